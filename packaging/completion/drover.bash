# bash completion for drover. Node and request ids come from ZooKeeper, with a short time-out.

_drover_ids() {
    local command=$1 config=()
    local i
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == -c ]]; then
            config=(-c "${COMP_WORDS[i + 1]}")
        fi
    done
    drover "${config[@]}" --connect-timeout 2 "$command" --json 2> /dev/null |
        sed -n 's/^ *"id": "\(.*\)",$/\1/p'
}

_drover() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command="" second="" word options="" i

    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case $word in
        -c | -s | -l | --connect-timeout) ((i++)) ;;
        -*) ;;
        *)
            if [[ -z $command ]]; then
                command=$word
            elif [[ -z $second ]]; then
                second=$word
            fi
            ;;
        esac
    done

    case $previous in
    -c | -s | -l | --config | --secure | --log-config)
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
        ;;
    esac

    case "$command $second" in
    " ")
        options="list request-list request hold delete info config-validate driver --help --version
                 --json --debug --connect-timeout -c -s -l"
        ;;
    "request ") options="submit show release" ;;
    "driver ") options="list info" ;;
    "driver info")
        options=$(drover driver list --json 2> /dev/null |
            sed -n 's/^ *"name": "\(.*\)",$/\1/p')
        ;;
    "request submit")
        options="--label --count --wait --timeout --tenant --provider --priority --json --help"
        ;;
    "request show" | "request release") options="$(_drover_ids request-list) --json --help" ;;
    "hold "*) options="$(_drover_ids list) --json --help" ;;
    "delete "*) options="$(_drover_ids list) --now --force --json --help" ;;
    "list "*) options="--detail --json --help" ;;
    *) options="--json --help" ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
}

complete -F _drover drover
