//! The `loopwright` command.

fn main() -> std::process::ExitCode {
    loopwright::main()
}
