# Completion of toggleadmin in fish: toggleadmin completion fish | source
function __toggleadmin_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] __complete $words[2..] 2>/dev/null
end
complete -c toggleadmin -f -a '(__toggleadmin_complete)'
