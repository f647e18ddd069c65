// SPDX-License-Identifier: MIT
//! What `<tact/tact.h>` declares, for Rust: how many cycles machine code takes, and why.
//!
//! Functions, structs and constants have their names in C; the manual pages of section 3
//! (`man tact_predict`) are their documentation, and say what each function asks of its caller.
//! A struct that begins with `size` is made by `Default`, as its `TACT_..._INIT` makes it in C.
//! `examples/predict.rs` wraps a block safely.
//!
//! ```
//! use std::ffi::CStr;
//!
//! // SAFETY: all values have a text, which is static.
//! let text = unsafe { CStr::from_ptr(tact_sys::tact_strerror(-(tact_sys::TACT_E_DECODE as i32))) };
//! assert!(!text.to_bytes().is_empty());
//! ```
#![allow(non_camel_case_types)]
#![warn(unsafe_op_in_unsafe_fn)]

#[rustfmt::skip]
mod bindings;

pub use bindings::*;
