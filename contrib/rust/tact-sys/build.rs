// SPDX-License-Identifier: MIT
//
// Asks pkg-config where libtact is. PKG_CONFIG_PATH says where tact.pc is, if it is not in a usual
// place; TACT_STATIC=1 links libtact.a.
use std::env;
use std::process::{exit, Command};

fn fail(why: &str) -> ! {
    eprintln!("tact-sys: {why}");
    exit(1);
}

/// The words that pkg-config prints.
fn pkg_config(options: &[&str]) -> Vec<String> {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let output = match Command::new(&program).args(options).arg("tact >= 0.1").output() {
        Ok(output) => output,
        Err(e) => fail(&format!("{program} does not start ({e}): install pkg-config")),
    };

    if !output.status.success() {
        fail(&format!(
            "{} finds no libtact: install it (libtact-dev), or set PKG_CONFIG_PATH to the folder of tact.pc.\n{}",
            program,
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    String::from_utf8_lossy(&output.stdout).split_whitespace().map(String::from).collect()
}

fn main() {
    for name in ["PKG_CONFIG", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR", "TACT_STATIC"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    let is_static = env::var_os("TACT_STATIC").is_some_and(|v| !v.is_empty() && v != "0");
    let libs =
        if is_static { pkg_config(&["--libs", "--static"]) } else { pkg_config(&["--libs"]) };

    for word in &libs {
        if let Some(place) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={place}");
        } else if let Some(name) = word.strip_prefix("-l") {
            let kind = if is_static && name == "tact" { "static" } else { "dylib" };

            println!("cargo:rustc-link-lib={kind}={name}");
        } else if word == "-pthread" {
            println!("cargo:rustc-link-lib=dylib=pthread");
        }
    }
    // For tests, and as DEP_TACT_INCLUDE for crates that use this one.
    for word in pkg_config(&["--variable=includedir"]) {
        println!("cargo:rustc-env=TACT_INCLUDE={word}");
        println!("cargo:include={word}");
    }
}
