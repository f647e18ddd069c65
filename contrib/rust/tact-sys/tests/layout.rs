// SPDX-License-Identifier: MIT
//
// Structs and constants are those that the C compiler sees, and all functions are in the library.
use std::mem::{align_of, size_of, MaybeUninit};
use std::path::PathBuf;
use std::process::Command;

/// A struct, its size, its alignment, and its members with their places and sizes.
pub struct Layout {
    pub name: &'static str,
    pub size: usize,
    pub align: usize,
    pub members: Vec<(&'static str, usize, usize)>,
}

fn size_of_pointee<T>(_: *const T) -> usize {
    size_of::<T>()
}

/// Words of Rust cannot be names: "type" is r#type here, "self" is self_.
fn name_in_c(name: &str) -> &str {
    name.trim_start_matches("r#").trim_end_matches('_')
}

macro_rules! structs {
    ($($name:ident: $($member:ident)*;)*) => {
        pub fn structs() -> Vec<crate::Layout> {
            vec![$({
                let value = crate::MaybeUninit::<tact_sys::$name>::uninit();
                let base = value.as_ptr();
                crate::Layout {
                    name: stringify!($name),
                    size: crate::size_of::<tact_sys::$name>(),
                    align: crate::align_of::<tact_sys::$name>(),
                    members: vec![$({
                        // SAFETY: nothing is read, only the address is taken.
                        let member = unsafe { std::ptr::addr_of!((*base).$member) };
                        (
                            crate::name_in_c(stringify!($member)),
                            member as usize - base as usize,
                            crate::size_of_pointee(member),
                        )
                    }),*],
                }
            }),*]
        }
    };
}

macro_rules! constants {
    ($($name:ident)*) => {
        pub fn constants() -> Vec<(&'static str, i64)> {
            vec![$((stringify!($name), tact_sys::$name as i64)),*]
        }
    };
}

macro_rules! functions {
    ($($name:ident)*) => {
        pub fn functions() -> Vec<(&'static str, usize)> {
            vec![$((stringify!($name), tact_sys::$name as *const () as usize)),*]
        }
    };
}

#[rustfmt::skip]
mod names;

/// Compiles and runs a program in C; returns the lines that it prints.
fn run_c(name: &str, body: &[String]) -> Vec<String> {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (place.join(format!("{name}.c")), place.join(name));
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let text = format!(
        "#include <stddef.h>\n#include <stdio.h>\n#include <tact/tact.h>\nint main(void)\n{{\n{}\nreturn 0;\n}}\n",
        body.join("\n")
    );

    std::fs::write(&source, text).unwrap();
    let status = Command::new(&cc)
        .args(["-std=gnu11", "-I", env!("TACT_INCLUDE"), "-o"])
        .args([&program, &source])
        .status()
        .unwrap_or_else(|e| panic!("{cc} does not start: {e}"));
    assert!(status.success(), "{cc}: {status}");
    let output = Command::new(&program).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(String::from).collect()
}

#[test]
fn structs_are_those_of_c() {
    let (mut ours, mut questions) = (Vec::new(), Vec::new());

    for s in names::structs() {
        let name = s.name;

        ours.push(format!("{} {} {}", name, s.size, s.align));
        questions.push(format!(
            "printf(\"{name} %zu %zu\\n\", sizeof(struct {name}), _Alignof(struct {name}));"
        ));
        for (member, place, size) in s.members {
            ours.push(format!("{name}.{member} {place} {size}"));
            questions.push(format!(
                "printf(\"{name}.{member} %zu %zu\\n\", offsetof(struct {name}, {member}), sizeof(((struct {name} *)0)->{member}));"
            ));
        }
    }
    let theirs = run_c("structs", &questions);
    assert!(ours.len() > 500, "{} lines only", ours.len());
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert_eq!(*ours, theirs);
    }
}

#[test]
fn constants_are_those_of_c() {
    let ours = names::constants();
    let questions: Vec<_> =
        ours.iter().map(|(n, _)| format!("printf(\"%lld\\n\", (long long){n});")).collect();
    let theirs = run_c("constants", &questions);

    assert_eq!(ours.len(), theirs.len());
    for ((name, value), line) in ours.iter().zip(theirs) {
        assert_eq!(value.to_string(), line, "{name}");
    }
}

#[test]
fn functions_are_in_the_library() {
    let all = names::functions();

    assert!(all.len() > 300);
    assert!(all.iter().all(|(_, address)| *address != 0));
}

#[test]
fn defaults_have_their_size() {
    let p = tact_sys::tact_prediction::default();

    assert_eq!((p.size, p.bottlenecks), (size_of::<tact_sys::tact_prediction>(), 0));
    assert_eq!(tact_sys::tact_diag::default().line, 0);
}
