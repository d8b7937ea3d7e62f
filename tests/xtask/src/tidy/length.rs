//! Files and functions stay short enough to be read in one go.

use syn::visit::{self, Visit};

use super::Problem;

/// Lines of a file, tests and comments included.
const FILE_LINES_MAX: usize = 800;

/// Lines of a function outside tests, from `fn` to its closing brace.
const FUNCTION_LINES_MAX: usize = 70;

/// Files and functions of one Rust file that are too long.
pub(super) fn problems(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let lines = text.lines().count();
    if lines > FILE_LINES_MAX {
        problems.push(Problem::new(
            path,
            format!("{lines} lines, at most {FILE_LINES_MAX} are allowed; split it by what it owns"),
        ));
    }
    if is_test_file(path) {
        return problems;
    }
    match syn::parse_file(text) {
        Ok(file) => {
            let mut walk = Walk { path, problems };
            walk.visit_file(&file);
            walk.problems
        }
        Err(error) => {
            problems.push(Problem::new(path, format!("cannot be parsed: {error}")));
            problems
        }
    }
}

/// Whether a file holds nothing but tests: end-to-end tests, a crate's `tests` and `benches`, a module `tests`.
fn is_test_file(path: &str) -> bool {
    // Crates below the top-level folder `tests` are code like any other, the end-to-end tests apart.
    let within = path.strip_prefix("tests/").unwrap_or(path);
    path.starts_with("tests/e2e/") || within.split('/').any(|part| matches!(part, "tests" | "benches" | "tests.rs"))
}

struct Walk<'a> {
    path: &'a str,
    problems: Vec<Problem>,
}

impl Walk<'_> {
    fn measure(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let first = signature.fn_token.span.start().line;
        let last = block.brace_token.span.close().end().line;
        let lines = last.saturating_sub(first) + 1;
        if lines > FUNCTION_LINES_MAX {
            self.problems.push(Problem::new(
                format!("{}:{first}", self.path),
                format!(
                    "function `{}` has {lines} lines, at most {FUNCTION_LINES_MAX} are allowed; split it",
                    signature.ident
                ),
            ));
        }
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_for_tests(&item.attrs) {
            self.measure(&item.sig, &item.block);
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            self.measure(&item.sig, &item.block);
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.measure(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

/// `#[test]` or `#[cfg(test)]`.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let cfg_test = attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"));
        attribute.path().is_ident("test") || cfg_test
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function of so many lines.
    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
    }

    fn messages(path: &str, text: &str) -> Vec<String> {
        problems(path, text).into_iter().map(|problem| problem.to_string()).collect()
    }

    #[test]
    fn long_files_are_found() {
        let line = "use a;\n";
        assert_eq!(messages("a.rs", &line.repeat(FILE_LINES_MAX)), [""; 0]);
        let found = messages("a/tests/b.rs", &line.repeat(FILE_LINES_MAX + 1));
        assert_eq!(found, ["a/tests/b.rs: 801 lines, at most 800 are allowed; split it by what it owns"]);
    }

    #[test]
    fn long_functions_are_found_wherever_they_stand() {
        let long = function(FUNCTION_LINES_MAX + 1);
        assert_eq!(messages("a.rs", &function(FUNCTION_LINES_MAX)), [""; 0]);
        for text in [
            long.clone(),
            format!("mod inner {{\n{long}}}\n"),
            format!("impl Thing {{\n{long}}}\n"),
            format!("trait Thing {{\n{long}}}\n"),
            format!("fn outer() {{\n}}\n#[must_use]\n{long}"),
        ] {
            let found = messages("tests/xtask/src/a.rs", &text);
            assert_eq!(found.len(), 1, "{text}");
            assert!(found.first().unwrap().contains("`long` has 71 lines"), "{found:?}");
        }
    }

    #[test]
    fn tests_may_be_long() {
        let long = function(FUNCTION_LINES_MAX + 1);
        assert_eq!(messages("a.rs", &format!("#[test]\n{long}")), [""; 0]);
        assert_eq!(messages("a.rs", &format!("#[cfg(test)]\nmod x {{\n{long}}}\n")), [""; 0]);
        for path in ["tests/e2e/src/a.rs", "host/tests/a.rs", "host/benches/a.rs", "sdk/src/a/tests.rs"] {
            assert_eq!(messages(path, &long), [""; 0], "{path}");
        }
    }

    #[test]
    fn what_is_not_rust_is_said() {
        assert_eq!(messages("a.rs", "fn (").len(), 1);
    }
}
