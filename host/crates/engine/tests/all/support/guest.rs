//! Guests out of WAT: a module with the canonical ABI's exports, made a component with the metadata of `wit/`.

use loopwright_contract::{
    skill::SkillCard,
    tool::{AccessRule, Catalogue, CollectionSpec, Effect, Localized, ToolSpec},
};
use loopwright_testkit::guests::{
    image::{Image, Words},
    with_request,
};
use serde_json::{Value, json};

/// Makes a component of a world out of a module in WAT.
pub fn component(world: &str, wat: &str) -> Vec<u8> {
    loopwright_testkit::guests::component("of a test", world, wat)
        .unwrap_or_else(|error| panic!("{}\n{wat}", loopwright_contract::fault::chain(&error)))
}

/// What every guest has: memory, a heap that a post-return empties, and `realloc`.
fn runtime(image: &Image, pages: usize) -> String {
    let (segment, heap) = (image.segment(), image.end());
    format!(
        r#"
        (memory (export "memory") {pages})
        {segment}
        (global $heap (mut i32) (i32.const {heap}))
        (func $alloc (param $size i32) (result i32) (local $at i32)
            (local.set $at (i32.and (i32.add (global.get $heap) (i32.const 7)) (i32.const -8)))
            (global.set $heap (i32.add (local.get $at) (local.get $size)))
            (block $enough
                (br_if $enough (i32.le_u (global.get $heap) (i32.mul (memory.size) (i32.const 65536))))
                (drop (memory.grow (i32.add (i32.const 1) (i32.shr_u (local.get $size) (i32.const 16))))))
            (local.get $at))
        (func (export "cabi_realloc") (param $old i32) (param $old_size i32) (param $align i32) (param $size i32) (result i32)
            (call $alloc (local.get $size)))
        (func $reset (global.set $heap (i32.const {heap})))
        "#
    )
}

/// A tool plugin whose calls run `body`, which leaves the address of its result. Parameters of a call: `$id $id_len $tool $tool_len $args
/// $args_len`; scratch: `$a $b $c` (i32). `parts` goes into the module as it is, after the imports.
pub struct ToolGuest {
    pub name: String,
    pub ext: Vec<(&'static str, &'static str)>,
    pub catalogue: Catalogue,
    pub imports: String,
    pub parts: String,
    /// The capabilities that its request asks for; `Null`: it has no request.
    pub request: Value,
    /// What `describe` does before it answers.
    pub describe: String,
    pub body: Box<dyn Fn(&mut Image) -> String>,
    pub pages: usize,
}

/// The imports of a tool's world, under short names.
pub const STATE: &str = r#"
    (import "loopwright:afv/state-read@0.1.0" "get" (func $get (param i32 i32 i32 i32 i32)))
    (import "loopwright:afv/state-write@0.1.0" "put" (func $put (param i32 i32 i32 i32 i32 i32 i32)))
    (import "loopwright:afv/state-write@0.1.0" "delete" (func $delete (param i32 i32 i32 i32 i32)))
    (import "loopwright:afv/context@0.1.0" "random-bits" (func $random_bits (param i32)))
    (import "loopwright:afv/context@0.1.0" "next-id" (func $next_id (param i32 i32 i32)))
    (import "loopwright:afv/context@0.1.0" "now" (func $now_parts (param i32)))
    (import "loopwright:afv/log@0.1.0" "write" (func $log (param i32 i32 i32)))
"#;

/// What the imports of time and randomness give, as one number. Their results are written below the image.
const NUMBERS: &str = r"
    (func $random (result i64)
        (call $random_bits (i32.const 16))
        (i64.or (i64.shl (i64.load32_u (i32.const 16)) (i64.const 32)) (i64.load32_u (i32.const 20))))
    (func $now (result i64)
        (call $now_parts (i32.const 16))
        (i64.add (i64.mul (i64.load (i32.const 16)) (i64.const 1000000000)) (i64.load32_u (i32.const 24))))
";

/// Moves the clock to a number of nanoseconds.
const ADVANCE: &str = r"
    (func $advance (param $at i64)
        (call $advance_parts
            (i64.div_u (local.get $at) (i64.const 1000000000))
            (i32.wrap_i64 (i64.rem_u (local.get $at) (i64.const 1000000000)))))
";

/// One tool that takes any object.
pub fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.parse().unwrap(),
        domain: "tests".into(),
        description: vec![Localized { lang: "en".parse().unwrap(), text: "A tool of the tests.".into() }],
        keywords: vec![],
        arguments_schema: json!({"type": "object", "properties": {"value": {}, "mode": {}}, "additionalProperties": false}),
        result_schema: json!({}),
        access: vec![AccessRule { when: None, effect: Effect::Write, requires: vec![] }],
        ext: vec![],
    }
}

/// A collection without documents.
pub fn collection(name: &str) -> CollectionSpec {
    CollectionSpec { name: name.parse().unwrap(), schema: None, bookkeeping: vec![], indexes: vec![], initial: vec![] }
}

impl ToolGuest {
    /// A plugin with one tool and one collection of its name.
    pub fn new(name: &str, body: impl Fn(&mut Image) -> String + 'static) -> Self {
        let catalogue =
            Catalogue { tools: vec![spec(&name.replace('-', "_"))], collections: vec![collection(name)], uses: vec![] };
        Self {
            name: name.into(),
            ext: vec![],
            catalogue,
            imports: STATE.into(),
            parts: String::new(),
            request: Value::Null,
            describe: String::new(),
            body: Box::new(body),
            pages: 2,
        }
    }

    pub fn build(&self) -> Vec<u8> {
        let mut image = Image::default();
        let identity = image.identity(&self.name, "0.1.0", &self.ext);
        let catalogue = image.catalogue(&self.catalogue);
        let body = (self.body)(&mut image);
        let (imports, parts, describe, runtime) =
            (&self.imports, &self.parts, &self.describe, runtime(&image, self.pages));
        let numbers = if imports.contains("$now_parts") { NUMBERS } else { "" };
        let wat = format!(
            r#"(module
            {imports}
            {runtime}
            {numbers}
            {parts}
            (func (export "loopwright:afv/tool@0.1.0#describe") (result i32) {describe} (i32.const {identity}))
            (func (export "loopwright:afv/tool@0.1.0#specs") (result i32) (i32.const {catalogue}))
            (func $call (export "loopwright:afv/tool@0.1.0#call")
                (param $id i32) (param $id_len i32) (param $tool i32) (param $tool_len i32) (param $args i32) (param $args_len i32) (result i32)
                (local $a i32) (local $b i32) (local $c i32)
                {body})
            (func (export "cabi_post_loopwright:afv/tool@0.1.0#call") (param i32) (call $reset)))"#
        );
        let component = component("capable-tool-plugin", &wat);
        if self.request.is_null() { component } else { with_request(component, &self.request) }
    }
}

/// The imports of the capability `tool.call`, under short names.
pub const TOOL_CALLER: &str = r#"
    (import "loopwright:afv/tool-caller@0.1.0" "call" (func $call_tool (param i32 i32 i32 i32 i32)))
"#;

/// The imports of the capability `scratch`, under short names.
pub const SCRATCH: &str = r#"
    (import "loopwright:afv/scratch@0.1.0" "get" (func $kept (param i32 i32 i32)))
    (import "loopwright:afv/scratch@0.1.0" "put" (func $keep (param i32 i32 i32 i32 i32)))
    (import "loopwright:afv/scratch@0.1.0" "delete" (func $forget (param i32 i32) (result i32)))
"#;

/// Makes what an inner call answered, at `$at`, the answer of this call: what was denied becomes code 403, what failed in its code 500.
pub const PASS_ON: &str = r"
    (func $pass_on (param $at i32) (result i32)
        (if (i32.load8_u (local.get $at)) (then
            (if (i32.load8_u offset=4 (local.get $at))
                (then
                    (i32.store16 offset=4 (local.get $at) (select (i32.const 403) (i32.const 500) (i32.eq (i32.load8_u offset=4 (local.get $at)) (i32.const 1))))
                    (i32.store8 offset=16 (local.get $at) (i32.const 0)))
                (else
                    (i32.store16 offset=4 (local.get $at) (i32.load16_u offset=8 (local.get $at)))
                    (i64.store offset=8 align=4 (local.get $at) (i64.load offset=12 align=4 (local.get $at)))
                    (i32.store8 offset=16 (local.get $at) (i32.const 0))))))
        (local.get $at))
";

/// A tool that answers `null` and does nothing else.
pub fn idle_tool(name: &str) -> ToolGuest {
    ToolGuest::new(name, |image| format!("(i32.const {})", image.success("done", "null")))
}

/// An environment that exposes every installed tool and passes every call on. `before_step` and `after_call` are WAT that may use
/// `$actor $calls $count`, and in `after_call` also `$at` (the call) and `$out` (its outcome).
pub struct EnvironmentGuest {
    pub name: String,
    pub ext: Vec<(&'static str, &'static str)>,
    pub parts: String,
    pub before_step: String,
    pub after_call: String,
    pub reset: String,
}

/// The imports of an environment's world, under short names.
const ENVIRONMENT_IMPORTS: &str = r#"
    (import "loopwright:afv/tools@0.1.0" "installed" (func $installed (param i32)))
    (import "loopwright:afv/tools@0.1.0" "invoke" (func $invoke (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "loopwright:afv/consent@0.1.0" "confirmed" (func $confirmed (param i32 i32 i32 i32 i32 i32) (result i32)))
    (import "loopwright:afv/clock-control@0.1.0" "advance-to" (func $advance_parts (param i64 i32)))
"#;

impl EnvironmentGuest {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            ext: vec![],
            parts: String::new(),
            before_step: String::new(),
            after_call: String::new(),
            reset: String::new(),
        }
    }

    pub fn build(&self) -> Vec<u8> {
        let mut image = Image::default();
        let identity = image.identity(&self.name, "0.1.0", &self.ext);
        let fault = image.text("the tool failed");
        let (fault_at, fault_len) = fault;
        let runtime = runtime(&image, 4);
        let Self { parts, before_step, after_call, reset, .. } = self;
        let wat = format!(
            r#"(module
            {STATE}
            {ENVIRONMENT_IMPORTS}
            {runtime}
            {NUMBERS}
            {ADVANCE}
            {parts}
            (func (export "loopwright:afv/environment@0.1.0#describe") (result i32) (i32.const {identity}))
            (func (export "loopwright:afv/environment@0.1.0#reset") (param $setup i32) (param $setup_len i32) (result i32) (local $out i32)
                {reset}
                (local.set $out (call $alloc (i32.const 32)))
                (i32.store (local.get $out) (i32.const 0))
                (call $observe (i32.add (local.get $out) (i32.const 4)))
                (local.get $out))
            (func $observe (param $out i32)
                (i32.store8 (local.get $out) (i32.const 1))
                (call $installed (i32.add (local.get $out) (i32.const 4)))
                (i64.store align=4 (i32.add (local.get $out) (i32.const 12)) (i64.const 8)))
            (func (export "loopwright:afv/environment@0.1.0#step") (param $actor i32) (param $calls i32) (param $count i32) (result i32)
                (local $ret i32) (local $list i32) (local $at i32) (local $out i32) (local $index i32)
                {before_step}
                (local.set $list (call $alloc (i32.mul (local.get $count) (i32.const 44))))
                (block $done (loop $next
                    (br_if $done (i32.ge_u (local.get $index) (local.get $count)))
                    (local.set $at (i32.add (local.get $calls) (i32.mul (local.get $index) (i32.const 24))))
                    (local.set $out (i32.add (local.get $list) (i32.mul (local.get $index) (i32.const 44))))
                    (i64.store align=4 (local.get $out) (i64.load align=4 (local.get $at)))
                    (i64.store align=4 (i32.add (local.get $out) (i32.const 36)) (i64.const 8))
                    (call $invoke
                        (i32.load (local.get $at)) (i32.load offset=4 (local.get $at)) (i32.load offset=8 (local.get $at)) (i32.load offset=12 (local.get $at))
                        (i32.load offset=16 (local.get $at)) (i32.load offset=20 (local.get $at)) (local.get $actor) (i32.add (local.get $out) (i32.const 8)))
                    (if (i32.eq (i32.load8_u offset=8 (local.get $out)) (i32.const 2)) (then
                        (i32.store8 offset=8 (local.get $out) (i32.const 1))
                        (i32.store16 offset=12 (local.get $out) (i32.const 503))
                        (i32.store offset=16 (local.get $out) (i32.const {fault_at}))
                        (i32.store offset=20 (local.get $out) (i32.const {fault_len}))
                        (i32.store8 offset=24 (local.get $out) (i32.const 0))))
                    {after_call}
                    (local.set $index (i32.add (local.get $index) (i32.const 1)))
                    (br $next)))
                (local.set $ret (call $alloc (i32.const 32)))
                (i32.store (local.get $ret) (i32.const 0))
                (i32.store offset=4 (local.get $ret) (local.get $list))
                (i32.store offset=8 (local.get $ret) (local.get $count))
                (call $observe (i32.add (local.get $ret) (i32.const 12)))
                (local.get $ret))
            (func (export "cabi_post_loopwright:afv/environment@0.1.0#reset") (param i32) (call $reset))
            (func (export "cabi_post_loopwright:afv/environment@0.1.0#step") (param i32) (call $reset)))"#
        );
        component("environment-plugin", &wat)
    }
}

/// A verifier that runs `body` and then gives one verdict for each prefix, with the numbers of `verdict` (outcome, score, progress).
pub struct VerifierGuest {
    pub name: String,
    pub body: String,
    pub verdict: (u8, f64, f64),
    /// Verdicts given beyond the ones asked for.
    pub surplus: i32,
}

/// The imports of a verifier's world, under short names.
const VERIFIER_IMPORTS: &str = r#"
    (import "loopwright:afv/log@0.1.0" "write" (func $log (param i32 i32 i32)))
    (import "loopwright:afv/evidence@0.1.0" "initial" (func $initial (result i32)))
    (import "loopwright:afv/evidence@0.1.0" "after" (func $after (param i32 i32)))
    (import "loopwright:afv/evidence@0.1.0" "target" (func $target (param i32)))
    (import "loopwright:afv/evidence@0.1.0" "step-count" (func $steps (result i32)))
    (import "loopwright:afv/evidence@0.1.0" "differences" (func $differences (param i32 i32 i32 i32 i32)))
    (import "loopwright:afv/evidence@0.1.0" "[resource-drop]snapshot" (func $drop_snapshot (param i32)))
"#;

impl VerifierGuest {
    pub fn new(name: &str, body: &str) -> Self {
        Self { name: name.into(), body: body.into(), verdict: (0, 1.0, 1.0), surplus: 0 }
    }

    pub fn build(&self) -> Vec<u8> {
        let mut image = Image::default();
        let identity = image.identity(&self.name, "0.1.0", &[]);
        let runtime = runtime(&image, 4);
        let (outcome, score, progress) = self.verdict;
        let (score, progress) = (float(score), float(progress));
        let Self { body, surplus, .. } = self;
        let wat = format!(
            r#"(module
            {VERIFIER_IMPORTS}
            {runtime}
            (global $passed (mut i32) (i32.const {outcome}))
            (global $score (mut f64) (f64.const {score}))
            (func (export "loopwright:afv/verifier@0.1.0#describe") (result i32) (i32.const {identity}))
            (func $judge (export "loopwright:afv/verifier@0.1.0#judge") (param $check i32) (param $check_len i32) (param $upto i32) (param $count i32) (result i32)
                (local $a i32) (local $b i32) (local $c i32) (local $list i32) (local $at i32) (local $ret i32)
                {body}
                (local.set $count (i32.add (local.get $count) (i32.const {surplus})))
                (local.set $list (call $alloc (i32.mul (local.get $count) (i32.const 32))))
                (local.set $at (local.get $list))
                (block $done (loop $next
                    (br_if $done (i32.ge_u (local.get $at) (i32.add (local.get $list) (i32.mul (local.get $count) (i32.const 32)))))
                    (i32.store8 (local.get $at) (global.get $passed))
                    (f64.store offset=8 (local.get $at) (global.get $score))
                    (f64.store offset=16 (local.get $at) (f64.const {progress}))
                    (i64.store offset=24 (local.get $at) (i64.const 8))
                    (local.set $at (i32.add (local.get $at) (i32.const 32)))
                    (br $next)))
                (local.set $ret (call $alloc (i32.const 16)))
                (i32.store (local.get $ret) (i32.const 0))
                (i32.store offset=4 (local.get $ret) (local.get $list))
                (i32.store offset=8 (local.get $ret) (local.get $count))
                (local.get $ret)))"#
        );
        component("verifier-plugin", &wat)
    }
}

fn float(number: f64) -> String {
    if number.is_nan() { "nan".into() } else { format!("{number:?}") }
}

/// A skill with this card, whose guidance is `guidance` and whose advice on every call is the address that `check` leaves.
pub fn skill(name: &str, card: &SkillCard, guidance: &str, check: &str) -> Vec<u8> {
    let mut image = Image::default();
    let identity = image.identity(name, "0.1.0", &[]);
    let card = image.card(card);
    let text = image.text(guidance);
    let guidance = image.record(Words::default().span(text));
    let warning = image.text("think first");
    let warn = image.record(Words::default().word(1).span(warning));
    let runtime = runtime(&image, 2);
    let wat = format!(
        r#"(module
        (import "loopwright:afv/state-read@0.1.0" "get" (func $get (param i32 i32 i32 i32 i32)))
        {runtime}
        (func (export "loopwright:afv/skill@0.1.0#describe") (result i32) (i32.const {identity}))
        (func (export "loopwright:afv/skill@0.1.0#card") (result i32) (i32.const {card}))
        (func (export "loopwright:afv/skill@0.1.0#guidance") (param i32 i32 i32 i32) (result i32) (i32.const {guidance}))
        (global $warn i32 (i32.const {warn}))
        (func (export "loopwright:afv/skill@0.1.0#check") (param i32 i32 i32 i32 i32 i32) (result i32) {check}))"#
    );
    component("skill-plugin", &wat)
}
