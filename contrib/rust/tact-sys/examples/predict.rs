// SPDX-License-Identifier: MIT
//
// A block, safely: tells how many cycles these bytes take, and what limits them.
//
//   cargo run --example predict SKL 4801d8
use std::ffi::{CStr, CString};
use std::ptr::{self, NonNull};

use tact_sys::*;

/// A microarchitecture: tables of the library, which live as long as the program.
#[derive(Clone, Copy)]
struct Arch(&'static tact_arch);

impl Arch {
    fn find(name: &str) -> Option<Arch> {
        let name = CString::new(name).ok()?;

        // SAFETY: the name is a string; the result is NULL or static.
        unsafe { tact_arch_find(name.as_ptr()).as_ref() }.map(Arch)
    }

    fn name(self) -> &'static str {
        // SAFETY: a string of the library's tables.
        text(unsafe { tact_arch_name(self.0) })
    }
}

/// Strings of the library are NUL-terminated, and static where this is used.
fn text(p: *const std::os::raw::c_char) -> &'static str {
    // SAFETY: as said.
    unsafe { CStr::from_ptr(p) }.to_str().unwrap_or("?")
}

/// What a function returned that failed, with what it says of that.
fn failure(status: i32, diag: &tact_diag) -> String {
    // SAFETY: the library ends its text with a NUL.
    let details = unsafe { CStr::from_ptr(diag.text.as_ptr()) }.to_string_lossy();

    format!("{}: {}", text(unsafe { tact_strerror(status) }), details)
}

struct Block {
    // A block belongs to one thread at a time, as this pointer does.
    handle: NonNull<tact_block>,
}

impl Block {
    fn new(arch: Arch) -> Result<Block, String> {
        let mut handle = ptr::null_mut();
        let mut diag = tact_diag::default();
        // SAFETY: both may be written; no options are the defaults.
        let status = unsafe { tact_block_create(&mut handle, arch.0, ptr::null(), &mut diag) };

        NonNull::new(handle).map(|handle| Block { handle }).ok_or_else(|| failure(status, &diag))
    }

    fn predict(&mut self, code: &[u8]) -> Result<tact_prediction, String> {
        let mut diag = tact_diag::default();
        let mut prediction = tact_prediction::default();
        // SAFETY: the handle is ours; the library reads code.len() bytes, and fills in no more of
        // the prediction than its size.
        let status = unsafe {
            match tact_block_load(self.handle.as_ptr(), code.as_ptr(), code.len(), &mut diag) {
                status if status < 0 => status,
                _ => tact_predict(self.handle.as_ptr(), ptr::null(), &mut prediction),
            }
        };

        if status < 0 {
            Err(failure(status, &diag))
        } else {
            Ok(prediction)
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: it is ours, and nobody uses it any more.
        unsafe { tact_block_destroy(self.handle.as_ptr()) }
    }
}

fn bottlenecks(p: &tact_prediction) -> String {
    let names = (0..TACT_N_BOUNDS).filter(|b| p.bottlenecks >> b & 1 == 1);

    // SAFETY: any value has a name.
    names.map(|b| text(unsafe { tact_bound_name(b) })).collect::<Vec<_>>().join(", ")
}

fn parse_hex(hex: &str) -> Option<Vec<u8>> {
    if hex.is_empty() || hex.len() % 2 == 1 || !hex.bytes().all(|c| c.is_ascii_hexdigit()) {
        return None;
    }
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).ok()).collect()
}

fn run(arch: &str, hex: &str) -> Result<String, String> {
    let arch = Arch::find(arch).ok_or_else(|| format!("unknown ARCH {arch}"))?;
    let code = parse_hex(hex).ok_or("HEX is not a string of hex digits")?;
    let p = Block::new(arch)?.predict(&code)?;

    Ok(format!(
        "{}: {:.2} cycles per iteration, limited by {}",
        arch.name(),
        p.cycles_per_iteration,
        bottlenecks(&p)
    ))
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();

    if words.len() != 2 {
        eprintln!("usage: predict ARCH HEX");
        std::process::exit(2);
    }
    match run(&words[0], &words[1]) {
        Ok(line) => println!("{line}"),
        Err(why) => {
            eprintln!("predict: {why}");
            std::process::exit(1);
        }
    }
}
