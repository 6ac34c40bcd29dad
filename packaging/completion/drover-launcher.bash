# bash completion for drover-launcher, also under the name nodepool-launcher.

_drover_launcher_options='-h --help -c --config -s --secure -d --debug -f --foreground --background
    -p --pid-file -l --log-config --log-file --log-format --state-dir --no-state --command-socket --sync-interval
    --cleanup-interval --delete-timeout --stop-timeout --no-webapp --repl --version'

_drover_launcher() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    # bash splits --config=FILE at the '='.
    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
    [[ $word == = ]] && word=
    COMPREPLY=()
    case $before in
    -c | --config | -s | --secure | -p | --pid-file | -l | --log-config | --log-file | --command-socket)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        ;;
    --state-dir)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        ;;
    --log-format) mapfile -t COMPREPLY < <(compgen -W 'text logfmt json' -- "$word") ;;
    --sync-interval | --cleanup-interval | --delete-timeout | --stop-timeout) ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$_drover_launcher_options" -- "$word") ;;
    esac
}

complete -F _drover_launcher drover-launcher nodepool-launcher
