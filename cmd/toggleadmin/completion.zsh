#compdef toggleadmin
# Completion of toggleadmin in zsh: source <(toggleadmin completion zsh)
_toggleadmin() {
    local line
    local -a candidates
    for line in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -n "$line" ]] && candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    _describe toggleadmin candidates
}
compdef _toggleadmin toggleadmin
