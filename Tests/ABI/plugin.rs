//! plugin.c in Rust.
use std::ffi::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};

extern "C" {
    fn bw_device_open(options: *const c_char, device: *mut *mut c_void) -> c_int;
    fn bw_device_close(device: *mut c_void) -> c_int;
    fn bw_version() -> *const c_char;
}

/// The version when a device opens and closes, otherwise NULL.
#[no_mangle]
pub extern "C" fn plugin_run() -> *const c_char {
    let mut device = null_mut();
    unsafe {
        if bw_device_open(c"{\"state_dir\":\":memory:\"}".as_ptr(), &mut device) < 0 {
            return null();
        }
        if bw_device_close(device) < 0 {
            return null();
        }
        bw_version()
    }
}
