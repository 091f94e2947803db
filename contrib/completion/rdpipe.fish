# SPDX-License-Identifier: Apache-2.0
# Completion of rdpipe and rdcp for fish 3.4 and later.

# fish reads this file for each of the two commands.
complete -c rdpipe -e
complete -c rdcp -e

# Prints run, stages (after the first stage), or the subcommand.
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

# Prints the output of complete.sh for hosts, stage or path.
function __rdpipe_ask
    set -l word (string unescape -- (commandline -ct))
    command rdpipe __complete $argv[1] "$word" (commandline -opc)[2..] 2>/dev/null
end

# True after a host's colon, where fish would offer local files.
function __rdpipe_on_host
    string match -qr '^[^/:]*(\[[^]/]*\])?:' -- (string unescape -- (commandline -ct))
end

complete -c rdpipe -f
complete -c rdpipe -n '__rdpipe_in run stages' -a '(__rdpipe_ask stage)'
complete -c rdpipe -n '__rdpipe_in doctor bench' -a '(__rdpipe_ask hosts)'
complete -c rdcp -n __rdpipe_on_host -f
complete -c rdcp -a '(__rdpipe_ask path)'

# Made by npm run fix:
complete -c rdcp -s r -l recursive -d 'copy directories and everything in them'
complete -c rdcp -s a -l archive -d '-r, and keep modes, owners, hard links, special files'
complete -c rdcp -s A -l acls -d 'also copy ACLs'
complete -c rdcp -s X -l xattrs -d 'also copy extended attributes'
complete -c rdcp -s x -l one-file-system -d 'stay on the file system of each SRC'
complete -c rdcp -l delete -d 'after copying, delete files in DST that SRC lacks'
complete -c rdcp -l max-delete -x -d 'delete nothing if over N would go'
complete -c rdcp -l exclude -x -d 'skip files that match PATTERN (.gitignore syntax)'
complete -c rdcp -l include -x -d 'do not skip files that match; the last match wins'
complete -c rdcp -l exclude-from -r -F -d 'read patterns from a local FILE, one per line'
complete -c rdcp -s c -l checksum -d 'compare files by digest, not by size and time'
complete -c rdcp -s u -l update -d 'skip files that are newer in DST'
complete -c rdcp -l verify -d 'read back the written files and compare them'
complete -c rdcp -l sync -d 'end only when the copy is on disk'
complete -c rdcp -l no-sync -d 'the opposite'
complete -c rdcp -l partial -d 'resume partially copied files'
complete -c rdcp -l no-partial -d 'the opposite'
complete -c rdcp -l inplace -d 'overwrite existing files in place, not with new files'
complete -c rdcp -l link-dest -x -d 'hard-link unchanged files to those in DIR (snapshots)'
complete -c rdcp -l mkpath -d 'create missing parent directories of DST'
complete -c rdcp -l remove-source-files -d 'delete each source file once its copy is on disk'
complete -c rdcp -l files-from -r -F -d 'copy only the paths listed in FILE (-: stdin)'
complete -c rdcp -s 0 -l from0 -d 'expect paths of --files-from to end in NUL, not newline'
complete -c rdcp -s z -d 'ignore rsync\'s -z; to compress, use --compress zstd'
complete -c rdcp -s P -d 'ignore rsync\'s -P: interrupted copies resume anyway, and a terminal shows progress'
complete -c rdpipe -n '__rdpipe_in run' -s v -l verbose -d 'print a summary at the end; -vv also logs each step'
complete -c rdpipe -n '__rdpipe_in doctor bench' -s v -l verbose -d 'log each step'
complete -c rdcp -s v -l verbose -d 'print paths and a summary; -vv also logs each step'
complete -c rdpipe -n '__rdpipe_in run' -s q -l quiet -d 'print only the stages\' stderr and, on failure, one error line'
complete -c rdpipe -n '__rdpipe_in run' -l no-quiet -d 'the opposite'
complete -c rdpipe -n '__rdpipe_in doctor' -s q -l quiet -d 'print only problems'
complete -c rdpipe -n '__rdpipe_in doctor' -l no-quiet -d 'the opposite'
complete -c rdpipe -n '__rdpipe_in bench' -s q -l quiet -d 'do not show progress'
complete -c rdpipe -n '__rdpipe_in bench' -l no-quiet -d 'the opposite'
complete -c rdcp -s q -l quiet -d 'print only failures'
complete -c rdcp -l no-quiet -d 'the opposite'
complete -c rdpipe -n '__rdpipe_in run' -s n -l dry-run -d 'connect to the hosts, print the plan and exit without running anything'
complete -c rdcp -s n -l dry-run -d 'list paths that would be copied or deleted, and why'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -s p -l port -x -d 'listen on these ports for data (for the port of ssh use -o Port=N)'
complete -c rdcp -s p -l port -x -d 'listen on these ports for data (for the port of ssh use -o Port=N)'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -s H -l hostname -x -d 'set the address at which other hosts reach this machine'
complete -c rdcp -s H -l hostname -x -d 'set the address at which other hosts reach this machine'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -l data -x -d 'set the address at which other hosts reach HOST; several: use all of them at the same time'
complete -c rdcp -l data -x -d 'set the address at which other hosts reach HOST; several: use all of them at the same time'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -l transport -x -a 'auto rdma tcp' -d 'choose the transport; auto: RDMA if both hosts support it, otherwise TCP'
complete -c rdcp -l transport -x -a 'auto rdma tcp' -d 'choose the transport; auto: RDMA if both hosts support it, otherwise TCP'
complete -c rdpipe -n '__rdpipe_in run' -l encrypt -x -a 'auto always auth never' -d 'protect data in transit; always: encrypt; auth: do not encrypt, but detect tampering; never: detect only accidental damage; auto: always over TCP, auth over RDMA, never within one machine'
complete -c rdcp -l encrypt -x -a 'auto always auth never' -d 'protect data in transit; always: encrypt; auth: do not encrypt, but detect tampering; never: detect only accidental damage; auto: always over TCP, auth over RDMA, never within one machine'
complete -c rdpipe -n '__rdpipe_in run' -l compress -x -a 'none zstd' -d 'compress data between hosts; LEVEL is 1 (fastest, used if not given) to 19'
complete -c rdcp -l compress -x -a 'none zstd' -d 'compress data between hosts; LEVEL is 1 (fastest, used if not given) to 19'
complete -c rdpipe -n '__rdpipe_in run bench' -l jobs -x -d 'use N threads to compress and encrypt at each end of a connection; 0: one per CPU, up to 8'
complete -c rdcp -l jobs -x -d 'use N threads at each end'
complete -c rdpipe -n '__rdpipe_in run' -l limit -x -a 'none' -d 'limit each connection: 200M or 200MiB/s (bytes), 1Gbit/s (bits)'
complete -c rdcp -l limit -x -a 'none' -d 'limit each connection: 200M, 1Gbit/s'
complete -c rdpipe -n '__rdpipe_in run bench' -l streams -x -a 'auto' -d 'use N connections at the same time between two hosts; auto: over long distances as many as help'
complete -c rdcp -l streams -x -a 'auto' -d 'use N connections at the same time; auto: as many as help'
complete -c rdpipe -n '__rdpipe_in run bench' -l buffer -x -d 'keep up to SIZE of data in flight on each TCP or RDMA connection'
complete -c rdcp -l buffer -x -d 'keep up to SIZE of data in flight on each TCP or RDMA connection'
complete -c rdpipe -n '__rdpipe_in run bench' -l poll -d 'busy-wait instead of sleeping: lower latency, but a busy CPU at each end'
complete -c rdpipe -n '__rdpipe_in run bench' -l no-poll -d 'the opposite'
complete -c rdcp -l poll -d 'busy-wait instead of sleeping: lower latency, but a busy CPU at each end'
complete -c rdcp -l no-poll -d 'the opposite'
complete -c rdpipe -n '__rdpipe_in run bench' -l numa -x -a 'auto off' -d 'auto: over RDMA, run on the device\'s NUMA node; off: let the kernel choose'
complete -c rdcp -l numa -x -a 'auto off' -d 'auto: over RDMA, run on the device\'s NUMA node; off: let the kernel choose'
complete -c rdpipe -n '__rdpipe_in run bench' -l congestion -x -a 'auto keep' -d 'auto: use BBR over long distances, if the kernel allows it; keep: use the kernel\'s congestion control'
complete -c rdcp -l congestion -x -a 'auto keep' -d 'auto: use BBR over long distances, if the kernel allows it; keep: use the kernel\'s congestion control'
complete -c rdpipe -n '__rdpipe_in run' -l ok -x -d 'treat these exit statuses, besides 0, as success'
complete -c rdpipe -n '__rdpipe_in run' -l lenient -d 'after a failure, let the next stage see a normal end of file, as in a shell'
complete -c rdpipe -n '__rdpipe_in run' -l no-lenient -d 'the opposite'
complete -c rdpipe -n '__rdpipe_in run' -l require -x -a 'all any' -d 'if a stage runs on several hosts, require this many of them to succeed'
complete -c rdpipe -n '__rdpipe_in run' -l fail-fast -d 'if a stage runs on several hosts, end the run when one of them fails'
complete -c rdpipe -n '__rdpipe_in run' -l no-fail-fast -d 'the opposite'
complete -c rdpipe -n '__rdpipe_in run' -l drop-slow -d 'continue without a host whose disk or command slows down a chain'
complete -c rdpipe -n '__rdpipe_in run' -l no-drop-slow -d 'the opposite'
complete -c rdpipe -n '__rdpipe_in run' -l order -x -a 'written near' -d 'order the hosts of a chain as written, or by machine, subnet and address (near)'
complete -c rdpipe -n '__rdpipe_in run' -l gather -x -a 'lines concat' -d 'merge the output of several hosts line by line, or one host after another (concat)'
complete -c rdpipe -n '__rdpipe_in run' -l fold -d 'print equal outputs of several hosts once, when all have ended'
complete -c rdpipe -n '__rdpipe_in run' -l no-fold -d 'the opposite'
complete -c rdpipe -n '__rdpipe_in run' -l prefix -d 'print the host before each line if several hosts print'
complete -c rdpipe -n '__rdpipe_in run' -l no-prefix -d 'the opposite'
complete -c rdpipe -n '__rdpipe_in run' -l shell -x -d 'run commands with SHELL'
complete -c rdpipe -n '__rdpipe_in run bench' -l sudo -x -d 'run everything on HOST as root, using sudo -n'
complete -c rdcp -l sudo -x -d 'run everything on HOST as root, using sudo -n'
complete -c rdpipe -n '__rdpipe_in doctor' -l sudo -x -d 'check that sudo -n works on HOST, and use it'
complete -c rdpipe -n '__rdpipe_in run' -l stdin -x -a 'auto none' -d 'none: do not read standard input; the first stage sees end of file at once'
complete -c rdpipe -n '__rdpipe_in run' -l stderr -x -a 'auto prefix raw off' -d 'show stages\' stderr prefixed with the host, raw or not at all; auto: prefix if there are two or more stages'
complete -c rdpipe -n '__rdpipe_in run' -l progress -x -a 'auto live plain none' -d 'show live status lines, a line every 10 s (plain), or neither'
complete -c rdcp -l progress -x -a 'auto live plain none' -d 'show live status lines, a line every 10 s (plain), or neither'
complete -c rdpipe -n '__rdpipe_in run' -l size -x -d 'expect a stream of this size, to show percentage and ETA'
complete -c rdpipe -n '__rdpipe_in bench' -l size -x -d 'send this much in each stream'
complete -c rdpipe -n '__rdpipe_in bench' -l rounds -x -d 'measure each method N times'
complete -c rdpipe -n '__rdpipe_in run' -l json -d 'print events as JSON lines on stderr instead of text'
complete -c rdpipe -n '__rdpipe_in doctor' -l json -d 'print one JSON object on standard output instead of text'
complete -c rdpipe -n '__rdpipe_in bench' -l json -d 'print one JSON object on standard output instead of the table'
complete -c rdcp -l json -d 'print a JSON object per path and a report on stderr'
complete -c rdpipe -n '__rdpipe_in run' -l report -r -F -d 'write an HTML page about the run to FILE'
complete -c rdpipe -n '__rdpipe_in bench' -l report -r -F -d 'write an HTML page with plots to FILE'
complete -c rdcp -l report -r -F -d 'write an HTML page about the copy to FILE'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -l connect-timeout -x -d 'give up if connecting, logging in or starting the agent takes longer'
complete -c rdcp -l connect-timeout -x -d 'give up if connecting, logging in or starting the agent takes longer'
complete -c rdpipe -n '__rdpipe_in run bench' -l stall-timeout -x -d 'give up when the other host sends nothing for this long'
complete -c rdcp -l stall-timeout -x -d 'give up when the other host sends nothing for this long'
complete -c rdpipe -n '__rdpipe_in run bench' -l lease -x -d 'give up when the control connection (ssh) is silent for this long'
complete -c rdcp -l lease -x -d 'give up when the control connection (ssh) is silent for this long'
complete -c rdpipe -n '__rdpipe_in run' -l timeout -x -d 'stop the run after this long'
complete -c rdcp -l timeout -x -d 'stop the run after this long'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -l ssh -x -a 'auto openssh ssh2' -d 'use the system\'s ssh (openssh) or the built-in client (ssh2)'
complete -c rdcp -l ssh -x -a 'auto openssh ssh2' -d 'use the system\'s ssh (openssh) or the built-in client (ssh2)'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -l launcher -x -a 'ssh slurm podman docker kubectl lxc' -d 'reach hosts through ssh, slurm, podman, docker, kubectl, lxc or command:TEMPLATE (%h: host, %u: user)'
complete -c rdcp -l launcher -x -a 'ssh slurm podman docker kubectl lxc' -d 'reach hosts through ssh, slurm, podman, docker, kubectl, lxc or command:TEMPLATE (%h: host, %u: user)'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -l ssh-program -r -F -d 'run this ssh program'
complete -c rdcp -l ssh-program -r -F -d 'run this ssh program'
complete -c rdpipe -n '__rdpipe_in run' -l relay -x -a 'auto never' -d 'auto: if two hosts have no direct path, relay data through ssh here; HOST: through HOST; never: fail'
complete -c rdcp -l relay -x -a 'auto never' -d 'auto: if two hosts have no direct path, relay data through ssh here; HOST: through HOST; never: fail'
complete -c rdpipe -n '__rdpipe_in bench' -l relay -x -a 'auto never' -d 'auto: if the hosts have no direct path, relay data through ssh here; never, HOST: fail'
complete -c rdpipe -n '__rdpipe_in run' -l persist -x -d 'keep ssh connections open this long after a run'
complete -c rdcp -l persist -x -d 'keep ssh connections open this long after a run'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -s F -r -F -d 'use FILE as the configuration file of ssh'
complete -c rdcp -s F -r -F -d 'use FILE as the configuration file of ssh'
complete -c rdpipe -n '__rdpipe_in run' -l connects -x -d 'log in to at most N hosts at once'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -s o -x -d 'pass an option to ssh, as ssh -o does'
complete -c rdcp -s o -x -d 'pass an option to ssh, as ssh -o does'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -l agent -x -d 'run the rdstage at PATH on the hosts instead of copying one there'
complete -c rdcp -l agent -x -d 'run the rdstage at PATH on the hosts instead of copying one there'
complete -c rdcp -l keyfile -r -F -d 'read the key for rd:// paths from FILE, which only you may be able to read'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -l config -r -F -d 'read the configuration from FILE'
complete -c rdcp -l config -r -F -d 'read the configuration from FILE'
complete -c rdpipe -n '__rdpipe_in run' -s V -l version -d 'print the version; with -v also the versions of its parts'
complete -c rdcp -s V -l version -d 'print the version; with -v also the versions of its parts'
complete -c rdpipe -n '__rdpipe_in run doctor bench' -s h -l help -d 'print this help'
complete -c rdcp -s h -l help -d 'print this help'
complete -c rdpipe -n '__rdpipe_in run' -a doctor -d 'find problems on hosts and between them'
complete -c rdpipe -n '__rdpipe_in run' -a bench -d 'measure the speed between two hosts'
complete -c rdpipe -n '__rdpipe_in run' -a demo -d 'try pipelines between two temporary hosts'
complete -c rdpipe -n '__rdpipe_in run' -a help -d 'explain a topic'
complete -c rdpipe -n '__rdpipe_in help' -a rdpipe -d 'run pipelines: usage and options'
complete -c rdpipe -n '__rdpipe_in help' -a stages -d 'how to write stages: commands, files, quotes'
complete -c rdpipe -n '__rdpipe_in help' -a hosts -d 'how to name hosts, and how rdpipe reaches them'
complete -c rdpipe -n '__rdpipe_in help' -a launchers -d 'hosts without ssh: Slurm, containers, any command'
complete -c rdpipe -n '__rdpipe_in help' -a rdcp -d 'copy files and directories: usage and options'
complete -c rdpipe -n '__rdpipe_in help' -a rdssh -d 'run rsync, git and other tools over RDMA or TCP'
complete -c rdpipe -n '__rdpipe_in help' -a tools -d 'lines for rsync, git, borg and other tools'
complete -c rdpipe -n '__rdpipe_in help' -a doctor -d 'find problems on hosts and between them'
complete -c rdpipe -n '__rdpipe_in help' -a bench -d 'measure the speed between two hosts'
complete -c rdpipe -n '__rdpipe_in help' -a demo -d 'try pipelines between two temporary hosts'
complete -c rdpipe -n '__rdpipe_in help' -a rdsend -d 'send a stream without ssh'
complete -c rdpipe -n '__rdpipe_in help' -a rdrecv -d 'receive a stream without ssh'
complete -c rdpipe -n '__rdpipe_in help' -a exit -d 'exit statuses'
complete -c rdpipe -n '__rdpipe_in help' -a config -d 'the configuration file'
complete -c rdpipe -n '__rdpipe_in help' -a environment -d 'environment variables'
complete -c rdpipe -n '__rdpipe_in help' -a completion -d 'Tab completion in bash, zsh and fish'
# End of what is made.
