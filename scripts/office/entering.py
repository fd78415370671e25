"""Running a command inside a PC, as if it had been started there."""
import contextlib
import os
import signal

from office import kernel, pc_files

SI_KERNEL = 0x80  # a terminal's Ctrl-C: the command, in the same group, got it too
PASSED_ON = {
    signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2,
}


def exit_status(wait_status):
    if os.WIFSIGNALED(wait_status):
        return 128 + os.WTERMSIG(wait_status)
    return os.WEXITSTATUS(wait_status)


def watch(child):
    """Passes signals on to the child, stops when it stops; returns its exit status."""
    while True:
        info = signal.sigwaitinfo(PASSED_ON | {signal.SIGCHLD})
        if info.si_signo != signal.SIGCHLD:
            if info.si_code != SI_KERNEL:
                os.kill(child, info.si_signo)
            continue
        pid, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
        if pid == 0:
            continue
        if not os.WIFSTOPPED(status):
            return exit_status(status)
        os.kill(os.getpid(), signal.SIGSTOP)
        os.kill(child, signal.SIGCONT)


def become(command, variables, folder):
    """Replaces the child by the command; 126 and 127 as a shell gives them."""
    with contextlib.suppress(OSError):
        os.chdir(folder)
    try:
        os.execvpe(command[0], command, {**os.environ, **variables})
    except FileNotFoundError:
        os.write(2, f"virtual_office: {command[0]}: not found in this PC\n".encode())
        os._exit(127)
    except OSError as error:
        os.write(2, f"virtual_office: {command[0]}: {error.strerror}\n".encode())
        os._exit(126)


def run_inside(pid, kinds, command, variables):
    """Returns the command's exit status, 128 + N if signal N ended it."""
    folder = os.getcwd()
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON | {signal.SIGCHLD})
    kernel.enter(pid, kinds)
    child = os.fork()
    if child == 0:
        kernel.die_with_parent(signal.SIGTERM)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        become(command, variables, folder)
    return watch(child)


def exec_in_pc(state, folder, name, command):
    variables = pc_files.pc_environment(folder, state["pcs"][name])
    # What the caller set himself wins.
    chosen = {
        key: value
        for key, value in variables.items()
        if key not in pc_files.MPI_SETTINGS or key not in os.environ
    }
    holder = state["holders"][name]["pid"]
    return run_inside(holder, ["uts", "ipc", "net", "pid", "mnt"], command, chosen)


def ssh_to_pc(state, folder, name, command):
    """Real ssh over the office's network, from the switch."""
    address = f"{state['subnet']}.{state['pcs'][name]['number']}"
    config = os.path.join(folder, "ssh_config")
    words = ["ssh", "-F", config, f"root@{address}", *command]
    return run_inside(state["holders"]["switch"]["pid"], ["net"], words, {})


