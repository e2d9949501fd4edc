//! What happens when the program itself is at fault.

use std::panic;
use std::process;

/// Makes a panic of any thread end the process, with a line in the log.
///
/// A thread that is gone would leave its connections hanging and the routing core in the middle of a step; a process
/// that is gone is started again by whoever watches over it.
pub(crate) fn end_on_panic() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |fault| {
        print(fault);
        logging::log!(MAIN, Critical, "The router ends because of a fault in itself: {fault}");
        process::abort();
    }));
}
