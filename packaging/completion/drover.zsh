#compdef drover nodepool
# zsh completion for drover, also under the name nodepool. Ids come from ZooKeeper, which is not
# waited for long.

# The values of a member of the objects that a command prints: _drover_values MEMBER COMMAND...
_drover_values() {
    local member=$1 option
    local -a values files
    shift
    for option in -c --config -s --secure; do
        [[ -n ${opt_args[$option]} ]] && files+=($option ${(Q)opt_args[$option]})
    done
    values=(${(f)"$($service --connect-timeout 2 $files "$@" --json 2>/dev/null |
        sed 's/{"'$member'": "/\n&/g' | sed -n 's/^{"'$member'": "\([^"]*\)".*/\1/p')"})
    compadd -a values
}

_drover_commands() {
    local -a commands
    commands=(
        'list:list nodes'
        'request-list:list node requests'
        'request:ask for machines, and give them back'
        'explain:tell why a request waits, or what a node does'
        'watch:tell of each change of a node or a request'
        'top:show pools, waiting requests and machines as they change'
        'hold:keep a node from being used'
        'delete:delete a node'
        'info:show what ZooKeeper knows of a provider'
        'image-list:list uploads of images'
        'dib-image-list:list builds of images'
        'image-status:list images'
        'dib-request-list:list builds asked for'
        'image-build:ask for a new build of an image'
        'image-pause:have an image not built'
        'image-unpause:have an image built again'
        'image-delete:have one upload deleted'
        'dib-image-delete:have a build and its uploads deleted'
        'alien-image-list:list images that clouds have and ZooKeeper does not know'
        'erase:forget everything that ZooKeeper knows of a provider'
        'export-image-data:save what ZooKeeper knows of images in a file'
        'import-image-data:restore what export-image-data saved'
        'config-validate:check the configuration'
        'driver:drivers that are installed'
        'launcher:command a launcher'
    )
    _describe command commands
}

# The words and options after a command.
_drover_command() {
    local command=$words[1]
    local -a common=('(- *)'{-h,--help}'[show help]' '--json[print JSON]')
    case $command in
    list) _arguments $common '--detail[all columns]' ;;
    explain)
        _arguments $common '--node=[a node]:node:_drover_values id list' \
            '1:request:_drover_values id request-list'
        ;;
    watch)
        _arguments $common '--request=[this request and its nodes]:request:_drover_values id request-list' \
            '--node=[this node]:node:_drover_values id list' {-L,--label=}'[this label]:label' \
            '--provider=[this provider]:provider' '--current[first what is there]' \
            '--text[text also when it is no terminal]' \
            '--state=[from or to this state]:state:(init building testing ready in-use used hold
                deleting failed aborted deleted requested pending fulfilled gone broken)' \
            '1:what:(requests nodes)'
        ;;
    top) _arguments $common '--once[once, as text]' ;;
    hold) _arguments $common '1:node:_drover_values id list' ;;
    delete)
        _arguments $common '--now[not through a launcher]' '--force[only forget it; give a backing node back]' \
            '1:node:_drover_values id list'
        ;;
    image-build | image-pause | image-unpause) _arguments $common '1:image:_drover_values image image-status' ;;
    dib-image-delete) _arguments $common '1:build:_drover_values id dib-image-list' ;;
    image-delete)
        _arguments $common '--provider=[where it was uploaded to]:provider' \
            '--image=[the image]:image:_drover_values image image-status' \
            '--build-id=[the build]:build:_drover_values id image-list' '--upload-id=[the upload]:upload'
        ;;
    erase) _arguments $common '--force[do not ask]' '1:provider' ;;
    export-image-data | import-image-data) _arguments $common '1:file:_files' ;;
    config-validate) _arguments $common '--strict[as strict as Nodepool]' ;;
    request) _arguments $common '1:command:(submit show release)' '*::argument:_drover_request' ;;
    driver)
        _arguments $common '1:command:(list info)' '2:driver:_drover_values name driver list'
        ;;
    launcher)
        _arguments $common '--socket=[command socket]:socket:_files' \
            '1:command:(status pause unpause graceful stop reconfigure explain log-level dump profile)' \
            '2:request:_drover_values id request-list'
        ;;
    *) _arguments $common ;;
    esac
}

_drover_request() {
    local -a common=('(- *)'{-h,--help}'[show help]' '--json[print JSON]')
    case $words[1] in
    submit)
        _arguments $common '*'{-L,--label=}'[kind of machine]:label' \
            {-n,--count=}'[how many of each]:number' {-w,--wait}'[until they are ready]' \
            '--timeout=[longest wait]:seconds' '--tenant=[tenant]:tenant' \
            '--provider=[preferred provider]:provider' '--priority=[priority]:priority:(100 200 300)'
        ;;
    show | release) _arguments $common '1:request:_drover_values id request-list' ;;
    esac
}

_arguments -s \
    '(- *)'{-h,--help}'[show help]' \
    {-c,--config=}'[configuration]:file:_files' \
    {-s,--secure=}'[secure configuration]:file:_files' \
    {-l,--log-config=}'[logging configuration]:file:_files' \
    '--debug[debug messages on standard error]' \
    '--json[print JSON]' \
    '--connect-timeout=[longest wait for ZooKeeper]:seconds' \
    '(- *)--version[print the version]' \
    '1:command:_drover_commands' \
    '*::argument:_drover_command'
