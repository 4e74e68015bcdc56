//! Handles the signals that stop a long-running command.

use anyhow::Result;

/// Returns a future that ends when the process is asked to stop: by Ctrl-C (SIGINT), the service manager (SIGTERM), a
/// closing terminal (SIGHUP) or Ctrl-\ (SIGQUIT). Further signals have no effect. SIGUSR1, SIGUSR2 and SIGALRM, whose
/// default action ends the process, are ignored from now on; the runtime ignores SIGPIPE.
///
/// # Errors
/// Returns an error if the system rejects a handler.
#[cfg(unix)]
pub(super) fn stop_signal() -> Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut quit = signal(SignalKind::quit())?;
    let mut hangup = if is_hangup_ignored() { None } else { Some(signal(SignalKind::hangup())?) };
    for ignored in [SignalKind::user_defined1(), SignalKind::user_defined2(), SignalKind::alarm()] {
        // A handler stays installed when its stream is dropped.
        drop(signal(ignored)?);
    }
    Ok(async move {
        let hung_up = async {
            match &mut hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = quit.recv() => {}
            () = hung_up => {}
        }
    })
}

/// Returns a future that ends at Ctrl-C.
#[cfg(not(unix))]
pub(super) fn stop_signal() -> Result<impl Future<Output = ()>> {
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}

/// Returns true if the process was started with SIGHUP ignored, as by `nohup`, to outlive its terminal. Only available
/// on Linux.
#[cfg(unix)]
fn is_hangup_ignored() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores_hangup(&status))
}

/// Reads the mask of ignored signals from `/proc/self/status`; SIGHUP is its lowest bit.
#[cfg(unix)]
fn ignores_hangup(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn ignored_signal_mask_is_parsed() {
        for (status, expected) in [
            ("Name:\tsignpost\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000001001\n", true),
            ("SigIgn:\t0000000000001000\nSigCgt:\t0000000000000001\n", false),
            ("SigIgn:\tnonsense\n", false),
            ("", false),
        ] {
            assert_eq!(ignores_hangup(status), expected, "{status}");
        }
    }
}
