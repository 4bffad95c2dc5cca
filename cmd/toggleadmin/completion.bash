# Completion of toggleadmin in bash: source <(toggleadmin completion bash)
_toggleadmin() {
    local IFS=$'\n'
    COMPREPLY=($("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o default -F _toggleadmin toggleadmin
