#compdef drover-launcher nodepool-launcher
# zsh completion for drover-launcher, also under the name nodepool-launcher.

_arguments -s \
    '(- *)'{-h,--help}'[show help]' \
    {-c,--config=}'[configuration]:file:_files' \
    {-s,--secure=}'[secure configuration]:file:_files' \
    {-d,--debug}'[stay in the foreground and log debug messages]' \
    {-f,--foreground}'[stay in the foreground]' \
    '--background[go to the background]' \
    {-p,--pid-file=}'[pid file]:file:_files' \
    {-l,--log-config=}'[logging configuration]:file:_files' \
    '--log-file=[append the log to a file]:file:_files' \
    '--log-format=[how lines look]:format:(text logfmt json)' \
    '(--no-state)--state-dir=[folder for what survives a restart]:folder:_files -/' \
    '(--state-dir)--no-state[begin a new ZooKeeper session with each start]' \
    '--command-socket=[socket of commands]:socket:_files' \
    '--sync-interval=[seconds between comparisons of inventories]:seconds' \
    '--cleanup-interval=[seconds between cleanups]:seconds' \
    '--delete-timeout=[seconds in which a machine has to be deleted]:seconds' \
    '--stop-timeout=[longest orderly stop in seconds]:seconds' \
    '--no-webapp[start no web server]' \
    '--repl[means nothing here]' \
    '(- *)--version[print the version]'
