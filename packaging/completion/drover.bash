# bash completion for drover, also under the name nodepool. Ids come from ZooKeeper, which is not
# waited for long.

_drover_commands='list request-list request explain watch top hold delete info image-list dib-image-list image-status dib-request-list image-build image-pause image-unpause image-delete dib-image-delete alien-image-list erase export-image-data import-image-data config-validate driver launcher'
_drover_options='-h --help -c --config -s --secure -l --log-config --debug --json --connect-timeout
    --version'
declare -A _drover_second=(
    [request]='submit show release'
    [driver]='list info'
    [launcher]='status pause unpause graceful stop reconfigure explain log-level dump profile'
)
declare -A _drover_command_options=(
    [list]='--detail'
    [delete]='--now --force'
    [erase]='--force'
    [image-delete]='--provider --image --build-id --upload-id'
    [config-validate]='--strict'
    [explain]='--node'
    [watch]='--request --node -L --label --provider --state --current --text'
    [top]='--once'
    ['request submit']='-L --label -n --count -w --wait --timeout --tenant --provider --priority'
)

# The words before the cursor: the command's in `command`, global options with files in `files`.
_drover_find_command() {
    local i=1 option
    command=
    files=()
    while ((i < COMP_CWORD)); do
        option=${COMP_WORDS[i]}
        case $option in
        -c | --config | -s | --secure | -l | --log-config | --connect-timeout)
            ((i++))
            # bash splits --config=FILE at the '='.
            [[ ${COMP_WORDS[i]} == = ]] && ((i++))
            [[ $option == --connect-timeout ]] || files+=("$option" "${COMP_WORDS[i]}")
            ;;
        -*) ;;
        *)
            if [[ -z $command ]]; then
                command=${COMP_WORDS[i]}
            elif [[ ${_drover_second[$command]-} ]]; then
                command+=" ${COMP_WORDS[i]}"
            fi
            ;;
        esac
        ((i++))
    done
}

# The values of a member of the objects that a command prints.
_drover_values() {
    local member=$1
    shift
    [[ $word == -* ]] && return
    "${COMP_WORDS[0]}" --connect-timeout 2 "${files[@]}" "$@" --json 2>/dev/null |
        sed 's/{"'"$member"'": "/\n&/g' | sed -n 's/^{"'"$member"'": "\([^"]*\)".*/\1/p'
}

_drover() {
    local command files word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words
    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
    [[ $word == = ]] && word=
    _drover_find_command
    COMPREPLY=()
    if [[ -z $command ]]; then
        case $before in
        -c | --config | -s | --secure | -l | --log-config)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
            ;;
        --connect-timeout) return ;;
        esac
        words="$_drover_commands $_drover_options"
    elif [[ ${_drover_second[$command]-} ]]; then
        words="${_drover_second[$command]} -h --help"
    else
        words="${_drover_command_options[$command]-} -h --help --json"
        [[ $command == launcher\ * ]] && words+=' --socket'
        case "$command $before" in
        'request submit --priority')
            words='100 200 300'
            ;;
        'request show '* | 'request release '*)
            words+=" $(_drover_values id request-list)"
            ;;
        'watch --state')
            words='init building testing ready in-use used hold deleting failed aborted deleted
                requested pending fulfilled gone broken'
            ;;
        'watch --request') words=$(_drover_values id request-list) ;;
        'watch --node') words=$(_drover_values id list) ;;
        'watch -L' | 'watch --label' | 'watch --provider') return ;;
        'watch '*) words+=' requests nodes' ;;
        'launcher '*' --socket')
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
            ;;
        'launcher log-level '*)
            [[ $word == -* ]] || words='debug info warning error critical default root nodepool'
            ;;
        'explain --node') words=$(_drover_values id list) ;;
        'explain '* | 'launcher explain '*) words+=" $(_drover_values id request-list)" ;;
        'hold '* | 'delete '*) words+=" $(_drover_values id list)" ;;
        'driver info '*) words+=" $(_drover_values name driver list)" ;;
        'request submit '*)
            case $before in
            -L | --label | -n | --count | --timeout | --tenant | --provider) return ;;
            esac
            ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _drover drover nodepool
