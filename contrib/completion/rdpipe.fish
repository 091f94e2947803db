# SPDX-License-Identifier: Apache-2.0
# Completion of rdpipe and rdcp for fish 3.4 and later.

# fish reads this file for each of the two.
complete -c rdpipe -e
complete -c rdcp -e

# run, stages (behind the first one), or the subcommand.
function __rdpipe_topic
    for word in (commandline -opc)[2..]
        switch $word
            case doctor bench demo help
                echo $word
                return
            case '-*'
            case '*:*'
                echo stages
                return
        end
    end
    echo run
end

function __rdpipe_in
    contains -- (__rdpipe_topic) $argv
end

# hosts, stage or path: what complete.sh prints.
function __rdpipe_ask
    set -l word (string unescape -- (commandline -ct))
    command rdpipe __complete $argv[1] "$word" (commandline -opc)[2..] 2>/dev/null
end

# fish would offer files of this machine behind the colon.
function __rdpipe_on_host
    string match -qr '^[^/:]*(\[[^]/]*\])?:' -- (string unescape -- (commandline -ct))
end

complete -c rdpipe -f
complete -c rdpipe -n '__rdpipe_in run stages' -a '(__rdpipe_ask stage)'
complete -c rdpipe -n '__rdpipe_in doctor bench' -a '(__rdpipe_ask hosts)'
complete -c rdcp -n __rdpipe_on_host -f
complete -c rdcp -a '(__rdpipe_ask path)'

# Made by npm run fix:
complete -c rdcp -s r -l recursive -d 'copy directories with all that is in them'
complete -c rdcp -s a -l archive -d '-r with modes, owners, hard links, special files'
complete -c rdcp -s A -l acls -d 'copy ACLs, too'
complete -c rdcp -s X -l xattrs -d 'copy extended attributes, too'
complete -c rdcp -s x -l one-file-system -d 'stay on the file system of each SRC'
complete -c rdcp -l delete -d 'remove at DST what SRC lacks, when all else is done'
complete -c rdcp -l max-delete -x -d '--delete removes at most so many'
complete -c rdcp -l exclude -x -d 'leave out what matches, in gitignore\'s syntax'
complete -c rdcp -l include -x -d 'but not what matches this; the last match decides'
complete -c rdcp -l exclude-from -r -F -d 'patterns from a file of this machine, one a line'
complete -c rdcp -s c -l checksum -d 'compare files by digest, not by size and time'
complete -c rdcp -l verify -d 'read back what was written, and compare'
complete -c rdcp -l partial -d 'go on where a copy was interrupted'
complete -c rdcp -l no-partial -d 'the opposite'
complete -c rdcp -l inplace -d 'write into files that are there, without a new one'
complete -c rdcp -l mkpath -d 'make missing directories above DST'
complete -c rdcp -l remove-source-files -d 'remove files at SRC once they are on the disk of DST'
complete -c rdcp -l files-from -r -F -d 'copy only these paths below SRC; -: standard input'
complete -c rdcp -s 0 -l from0 -d 'paths of --files-from end in NUL, not in newline'
complete -c rdpipe -n '__rdpipe_in run' -s v -l verbose -d 'summary of every hop and stage at the end; twice: log what is done'
complete -c rdpipe -n '__rdpipe_in doctor bench' -s v -l verbose -d 'log what is done'
complete -c rdcp -s v -l verbose -d 'print each path and a summary; -vv: all that is done'
complete -c rdpipe -n '__rdpipe_in run' -s q -l quiet -d 'only the stages\' own stderr and a failure\'s line'
complete -c rdpipe -n '__rdpipe_in run' -l no-quiet -d 'the opposite'
complete -c rdpipe -n '__rdpipe_in doctor' -s q -l quiet -d 'problems only'
complete -c rdpipe -n '__rdpipe_in doctor' -l no-quiet -d 'the opposite'
complete -c rdpipe -n '__rdpipe_in bench' -s q -l quiet -d 'no progress'
complete -c rdpipe -n '__rdpipe_in bench' -l no-quiet -d 'the opposite'
complete -c rdcp -s q -l quiet -d 'nothing but failures'
complete -c rdcp -l no-quiet -d 'the opposite'
complete -c rdpipe -n '__rdpipe_in run' -s n -l dry-run -d 'open sessions, print the plan, start nothing'
complete -c rdcp -s n -l dry-run -d 'list what would be copied and removed, and why'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -s p -l port -x -d 'ports of listening ends'
complete -c rdcp -s p -l port -x -d 'ports of listening ends'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -s H -l hostname -x -d 'address under which other hosts reach this machine'
complete -c rdcp -s H -l hostname -x -d 'address under which other hosts reach this machine'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -l data -x -d 'address that others use for HOST\'s data'
complete -c rdcp -l data -x -d 'address that others use for HOST\'s data'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -l transport -x -a 'auto rdma tcp' -d 'auto: RDMA where both ends can, else TCP'
complete -c rdcp -l transport -x -a 'auto rdma tcp' -d 'auto: RDMA where both ends can, else TCP'
complete -c rdpipe -n '__rdpipe_in run' -l encrypt -x -a 'auto always auth never' -d 'auto: always over TCP, auth over RDMA; auth: in clear, changes are noticed; never: only accidents are'
complete -c rdcp -l encrypt -x -a 'auto always auth never' -d 'auto: always over TCP, auth over RDMA; auth: in clear, changes are noticed; never: only accidents are'
complete -c rdpipe -n '__rdpipe_in run' -l compress -x -a 'none zstd' -d 'compress what hops carry, LEVEL 1 to 19, 1 where none is given'
complete -c rdcp -l compress -x -a 'none zstd' -d 'compress what hops carry, LEVEL 1 to 19, 1 where none is given'
complete -c rdpipe -n '__rdpipe_in run bench' -l jobs -x -d 'threads of a hop\'s end that compress and encrypt; 0: as many as its host has processors, up to 8'
complete -c rdcp -l jobs -x -d 'threads at each end'
complete -c rdpipe -n '__rdpipe_in run' -l limit -x -a 'none' -d 'of every hop: 200M (bytes a second), 200MiB/s, 1Gbit/s'
complete -c rdcp -l limit -x -a 'none' -d 'of every hop: 200M, 1Gbit/s'
complete -c rdpipe -n '__rdpipe_in run bench' -l buffer -x -d 'a hop\'s window'
complete -c rdcp -l buffer -x -d 'a hop\'s window'
complete -c rdpipe -n '__rdpipe_in run bench' -l poll -d 'hops spin instead of sleeping: less delay, a busy CPU at each end'
complete -c rdpipe -n '__rdpipe_in run bench' -l no-poll -d 'the opposite'
complete -c rdcp -l poll -d 'hops spin instead of sleeping: less delay, a busy CPU at each end'
complete -c rdcp -l no-poll -d 'the opposite'
complete -c rdpipe -n '__rdpipe_in run bench' -l numa -x -a 'auto off' -d 'auto: over RDMA, a hop\'s ends are where their devices are'
complete -c rdcp -l numa -x -a 'auto off' -d 'auto: over RDMA, a hop\'s ends are where their devices are'
complete -c rdpipe -n '__rdpipe_in run' -l ok -x -d 'exit statuses that count as success beside 0'
complete -c rdpipe -n '__rdpipe_in run' -l lenient -d 'a failing stage still gives the next one a clean end of file'
complete -c rdpipe -n '__rdpipe_in run' -l no-lenient -d 'the opposite'
complete -c rdpipe -n '__rdpipe_in run' -l require -x -a 'all any' -d 'hosts of a stage on several that must end well'
complete -c rdpipe -n '__rdpipe_in run' -l fail-fast -d 'a lost host of a stage on several ends the run at once'
complete -c rdpipe -n '__rdpipe_in run' -l no-fail-fast -d 'the opposite'
complete -c rdpipe -n '__rdpipe_in run' -l drop-slow -d 'goes on without a host whose disk or command holds up a chain'
complete -c rdpipe -n '__rdpipe_in run' -l no-drop-slow -d 'the opposite'
complete -c rdpipe -n '__rdpipe_in run' -l order -x -a 'written near' -d 'hosts of a chain as they are written, or by machine, subnet and address'
complete -c rdpipe -n '__rdpipe_in run' -l gather -x -a 'lines concat' -d 'outputs of several hosts: lines as they come, or host after host'
complete -c rdpipe -n '__rdpipe_in run' -l shell -x -d 'shell that runs the commands'
complete -c rdpipe -n '__rdpipe_in run' -l sudo -x -d 'run that host\'s agent by sudo -n'
complete -c rdcp -l sudo -x -d 'run that host\'s agent by sudo -n'
complete -c rdpipe -n '__rdpipe_in doctor' -l sudo -x -d 'try sudo there, and run that host\'s agent by it'
complete -c rdpipe -n '__rdpipe_in bench' -l sudo -x -d 'run that host\'s agent by sudo'
complete -c rdpipe -n '__rdpipe_in run' -l stdin -x -a 'auto none' -d 'none: the first stage gets end of file at once'
complete -c rdpipe -n '__rdpipe_in run' -l stderr -x -a 'auto prefix raw off' -d 'stages\' stderr: each line with its host (auto: with two stages or more), as it is, dropped'
complete -c rdpipe -n '__rdpipe_in run' -l progress -x -a 'auto live plain none' -d 'live rows, a line every 10 s (plain), or neither'
complete -c rdcp -l progress -x -a 'auto live plain none' -d 'live rows, a line every 10 s (plain), or neither'
complete -c rdpipe -n '__rdpipe_in run' -l size -x -d 'expected size of the stream, for percentage and ETA'
complete -c rdpipe -n '__rdpipe_in bench' -l size -x -d 'of every stream'
complete -c rdpipe -n '__rdpipe_in bench' -l rounds -x -d 'rounds of all ways'
complete -c rdpipe -n '__rdpipe_in run' -l json -d 'events as JSON lines on stderr in place of all text'
complete -c rdpipe -n '__rdpipe_in doctor' -l json -d 'one JSON object on standard output in place of all text'
complete -c rdpipe -n '__rdpipe_in bench' -l json -d 'one JSON object on standard output in place of the table'
complete -c rdcp -l json -d 'an object a path, and a report, on stderr'
complete -c rdpipe -n '__rdpipe_in run' -l report -r -F -d 'write a page of HTML about the run'
complete -c rdpipe -n '__rdpipe_in bench' -l report -r -F -d 'write a page of HTML with plots'
complete -c rdcp -l report -r -F -d 'write a page of HTML about the copy'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -l connect-timeout -x -d 'to connect, to log in and to start the agent, each'
complete -c rdcp -l connect-timeout -x -d 'to connect, to log in and to start the agent, each'
complete -c rdpipe -n '__rdpipe_in run bench' -l stall-timeout -x -d 'until a silent peer is given up'
complete -c rdcp -l stall-timeout -x -d 'until a silent peer is given up'
complete -c rdpipe -n '__rdpipe_in run bench' -l lease -x -d 'until a silent control connection is given up'
complete -c rdcp -l lease -x -d 'until a silent control connection is given up'
complete -c rdpipe -n '__rdpipe_in run' -l timeout -x -d 'for the whole run'
complete -c rdcp -l timeout -x -d 'for the whole run'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -l ssh -x -a 'auto openssh ssh2' -d 'the control connection'
complete -c rdcp -l ssh -x -a 'auto openssh ssh2' -d 'the control connection'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -l launcher -x -d 'way to hosts: ssh, slurm, podman, docker, kubectl, lxc or command:TEMPLATE (%h is the host)'
complete -c rdcp -l launcher -x -d 'way to hosts: ssh, slurm, podman, docker, kubectl, lxc or command:TEMPLATE (%h is the host)'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -l ssh-program -r -F -d 'the ssh to run'
complete -c rdcp -l ssh-program -r -F -d 'the ssh to run'
complete -c rdpipe -n '__rdpipe_in run' -l relay -x -a 'auto never' -d 'auto: hosts without a direct path are joined through ssh here, HOST: by that host; never: they are an error'
complete -c rdcp -l relay -x -a 'auto never' -d 'auto: hosts without a direct path are joined through ssh here, HOST: by that host; never: they are an error'
complete -c rdpipe -n '__rdpipe_in bench' -l relay -x -a 'auto never' -d 'auto: hosts without a direct path are joined through ssh here; never, HOST: they are an error'
complete -c rdpipe -n '__rdpipe_in run' -l persist -x -d 'to keep ssh connections after a run'
complete -c rdcp -l persist -x -d 'to keep ssh connections after a run'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -s F -r -F -d 'ssh\'s configuration file, as for ssh(1)'
complete -c rdcp -s F -r -F -d 'ssh\'s configuration file, as for ssh(1)'
complete -c rdpipe -n '__rdpipe_in run' -l connects -x -d 'hosts that log in at a time'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -s o -x -d 'an option of ssh\'s, as for ssh(1)'
complete -c rdcp -s o -x -d 'an option of ssh\'s, as for ssh(1)'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -l agent -x -d 'an agent that is already on the hosts'
complete -c rdcp -l agent -x -d 'an agent that is already on the hosts'
complete -c rdcp -l keyfile -r -F -d 'the key for rd:// paths, in a file that only you may read'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -l config -r -F -d 'config file'
complete -c rdcp -l config -r -F -d 'config file'
complete -c rdpipe -n '__rdpipe_in run' -s V -l version -d 'print the version; with -v those of its parts, too'
complete -c rdcp -s V -l version -d 'print the version; with -v those of its parts, too'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -s h -l help -d 'print this help'
complete -c rdcp -s h -l help -d 'print this help'
complete -c rdpipe -n '__rdpipe_in run' -a doctor -d 'find problems of hosts, and between them'
complete -c rdpipe -n '__rdpipe_in run' -a bench -d 'measure the ways between two hosts'
complete -c rdpipe -n '__rdpipe_in run' -a demo -d 'two throwaway hosts, and pipelines between them'
complete -c rdpipe -n '__rdpipe_in run' -a help -d 'explain a topic'
complete -c rdpipe -n '__rdpipe_in help' -a rdpipe -d 'pipelines: usage and options'
complete -c rdpipe -n '__rdpipe_in help' -a stages -d 'what a stage may be: commands, files, quotes'
complete -c rdpipe -n '__rdpipe_in help' -a hosts -d 'how hosts are written, reached and named'
complete -c rdpipe -n '__rdpipe_in help' -a rdcp -d 'copies of files and trees'
complete -c rdpipe -n '__rdpipe_in help' -a rdssh -d 'ssh\'s command line for other tools'
complete -c rdpipe -n '__rdpipe_in help' -a doctor -d 'find problems of hosts, and between them'
complete -c rdpipe -n '__rdpipe_in help' -a bench -d 'measure the ways between two hosts'
complete -c rdpipe -n '__rdpipe_in help' -a demo -d 'two throwaway hosts, and pipelines between them'
complete -c rdpipe -n '__rdpipe_in help' -a rdsend -d 'a stream without ssh: its sender'
complete -c rdpipe -n '__rdpipe_in help' -a rdrecv -d 'a stream without ssh: its receiver'
complete -c rdpipe -n '__rdpipe_in help' -a exit -d 'exit statuses'
complete -c rdpipe -n '__rdpipe_in help' -a config -d 'defaults in a file'
complete -c rdpipe -n '__rdpipe_in help' -a environment -d 'variables that are read'
complete -c rdpipe -n '__rdpipe_in help' -a completion -d 'Tab in bash, zsh and fish'
# End of what is made.
