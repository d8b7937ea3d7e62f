//! Every value type of the contract goes through guests in Rust, Python and JavaScript and comes back as it went: generated cases from the
//! types of the components themselves, with a fixed seed. The guests are `tests/guests/echo`.

use std::path::Path;

use loopwright_contract::json::{JsonLimits, canonical, parse};
use loopwright_engine::{EngineClass, EngineConfig, Engines, Ticker};
use loopwright_world::SeededRandom;
use serde_json::{Map, Value, json};
use wasmtime::{
    Store,
    component::{Component, ComponentExportIndex, Func, Instance, Linker, Type, Val},
};

/// Generated cases of each function.
const CASES: usize = 40;
/// Everything that the world exports: a function that is added without a case here would go unnoticed.
const FUNCTIONS: usize = 25;
/// The largest integer that a double holds exactly, with all below it.
const SAFE: u64 = (1 << 53) - 1;

struct Echo {
    store: Store<()>,
    instance: Instance,
    values: ComponentExportIndex,
    functions: Vec<String>,
}

fn echo(name: &str) -> Echo {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../target/plugins/{name}.wasm"));
    let bytes = std::fs::read(&path)
        .unwrap_or_else(|error| panic!("{}: {error}\nhint: build it with `cargo xtask test`", path.display()));
    let engines = Engines::new(&EngineConfig { ticker: Ticker::Manual, ..EngineConfig::default() }).unwrap();
    let engine = engines.engine(EngineClass::Tool);
    let component = Component::new(engine, &bytes).unwrap();
    let imports: Vec<String> = component.component_type().imports(engine).map(|(name, _)| name.to_owned()).collect();
    assert!(imports.iter().all(|name| name.starts_with("loopwright:afv/")), "{name} imports {imports:?}");
    let mut linker = Linker::new(engine);
    linker.define_unknown_imports_as_traps(&component).unwrap();
    let mut store = Store::new(engine, ());
    store.set_fuel(u64::MAX).unwrap();
    store.set_epoch_deadline(u64::MAX / 2);
    let instance = linker.instantiate(&mut store, &component).unwrap();
    let (item, values) = component.get_export(None, "loopwright:echo/values@0.1.0").unwrap();
    let wasmtime::component::types::ComponentItem::ComponentInstance(item) = item else {
        panic!("no instance: {item:?}")
    };
    let is_function = |item: &wasmtime::component::types::ComponentItem| {
        matches!(item, wasmtime::component::types::ComponentItem::ComponentFunc(_))
    };
    let functions =
        item.exports(engine).filter(|(_, item)| is_function(&item.ty)).map(|(name, _)| name.to_owned()).collect();
    Echo { store, instance, values, functions }
}

impl Echo {
    fn function(&mut self, name: &str) -> Func {
        let index = self.instance.get_export_index(&mut self.store, Some(&self.values), name).unwrap();
        self.instance.get_func(&mut self.store, index).unwrap()
    }

    fn call(&mut self, function: &Func, value: &Val) -> Val {
        let mut results = [Val::Bool(false)];
        function
            .call(&mut self.store, std::slice::from_ref(value), &mut results)
            .unwrap_or_else(|error| panic!("{value:?}: {error:?}"));
        let [result] = results;
        result
    }
}

struct Draw(SeededRandom);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// Any character but NUL, from every plane.
    fn character(&mut self) -> char {
        let ranges = [
            (0x01, 0x1f),
            (0x20, 0x7e),
            (0x7f, 0xff),
            (0x300, 0x36f),
            (0x590, 0x6ff),
            (0x2028, 0x2029),
            (0x4e00, 0x9fff),
            (0xd7f0, 0xd7ff),
            (0xe000, 0xe0ff),
            (0xfeff, 0xfeff),
            (0xfff0, 0xffff),
            (0x1_0000, 0x1_ffff),
            (0x2_0000, 0x3_ffff),
            (0x4_0000, 0xf_ffff),
            (0x10_0000, 0x10_ffff),
        ];
        let (first, last) = self.one(&ranges);
        char::from_u32(first + self.below(u64::from(last - first) + 1) as u32).unwrap_or('\u{fffd}')
    }

    fn text(&mut self) -> String {
        let length = self.one(&[0, 1, 2, 7, 40, 2000]);
        (0..length).map(|_| self.character()).collect()
    }

    fn double(&mut self) -> f64 {
        let known = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            f64::MIN_POSITIVE,
            -f64::MIN_POSITIVE,
            5e-324,
            -5e-324,
            2.225e-308,
            f64::MAX,
            f64::MIN,
            f64::EPSILON,
            1e21,
            1e22,
            0.1,
            9_007_199_254_740_993.0,
        ];
        if self.below(2) == 0 {
            return self.one(&known);
        }
        let drawn = f64::from_bits(self.0.next_u64());
        if drawn.is_finite() { drawn } else { 0.5 }
    }

    fn value(&mut self, of: &Type) -> Val {
        match of {
            Type::Bool => Val::Bool(self.below(2) == 1),
            Type::U8 => Val::U8(self.0.next_u64() as u8),
            Type::U16 => Val::U16(self.one(&[0, 1, 400, 0x7fff, 0x8000, u16::MAX])),
            Type::U32 => Val::U32(self.one(&[0, 1, 999_999_999, 0x7fff_ffff, 0x8000_0000, u32::MAX])),
            Type::S32 => Val::S32(self.one(&[0, 1, -1, 28_800, -43_200, i32::MIN, i32::MAX])),
            // The one 64-bit integer that crosses counts seconds; a language whose numbers are doubles holds it, by design.
            Type::U64 => Val::U64(self.one(&[0, 1, 1 << 32, 1_772_413_200, 18_446_744_073, SAFE])),
            Type::Float64 => Val::Float64(self.double()),
            Type::String => Val::String(self.text()),
            Type::List(list) => {
                let length = self.one(&[0, 1, 3, 9]);
                Val::List((0..length).map(|_| self.value(&list.ty())).collect())
            }
            Type::Record(record) => {
                Val::Record(record.fields().map(|field| (field.name.to_owned(), self.value(&field.ty))).collect())
            }
            Type::Tuple(tuple) => Val::Tuple(tuple.types().map(|each| self.value(&each)).collect()),
            Type::Variant(variant) => {
                let cases: Vec<_> = variant.cases().collect();
                let case = &cases[self.below(cases.len() as u64) as usize];
                Val::Variant(case.name.to_owned(), case.ty.as_ref().map(|of| Box::new(self.value(of))))
            }
            Type::Enum(names) => {
                let names: Vec<&str> = names.names().collect();
                Val::Enum(self.one(&names).to_owned())
            }
            Type::Option(option) => Val::Option((self.below(3) > 0).then(|| Box::new(self.value(&option.ty())))),
            Type::Result(result) => {
                let boxed = |draw: &mut Self, of: Option<Type>| of.map(|of| Box::new(draw.value(&of)));
                Val::Result(if self.below(2) == 0 {
                    Ok(boxed(self, result.ok()))
                } else {
                    Err(boxed(self, result.err()))
                })
            }
            other => panic!("the contract has a type that is not generated yet: {other:?}"),
        }
    }

    fn json(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 5 } else { 7 }) {
            0 => Value::Null,
            1 => json!(self.below(2) == 1),
            2 => json!(self.one(&[0, 1, -1, 42, SAFE as i64, -(SAFE as i64)])),
            3 => json!(self.double()),
            4 => json!(self.text()),
            5 => (0..self.below(4)).map(|_| self.json(depth - 1)).collect(),
            _ => Value::Object((0..self.below(4)).map(|_| (self.text(), self.json(depth - 1))).collect::<Map<_, _>>()),
        }
    }
}

/// The debug form tells `-0.0` from `0.0`, which the values' own equality does not.
fn shown(value: &Val) -> String {
    format!("{value:?}")
}

fn check(name: &str) {
    let mut echo = echo(name);
    assert_eq!(echo.functions.len(), FUNCTIONS, "{:?}", echo.functions);
    let mut draw = Draw(SeededRandom::new(1, "echo").unwrap());
    for function in echo.functions.clone() {
        let called = echo.function(&function);
        let of = called.ty(&echo.store).params().next().unwrap().1;
        for case in 0..CASES {
            if function == "through-json" {
                let value = canonical(&draw.json(6));
                let Val::String(back) = echo.call(&called, &Val::String(value.clone())) else { panic!("no text") };
                let back = parse(&back, &JsonLimits::CONTRACT)
                    .unwrap_or_else(|error| panic!("{name} {function} {case}: {error}: {back}"));
                assert_eq!(canonical(&back), value, "{name} {function}, case {case}");
            } else {
                let value = draw.value(&of);
                let back = echo.call(&called, &value);
                assert_eq!(shown(&back), shown(&value), "{name} {function}, case {case}");
            }
        }
    }
}

#[test]
fn every_value_comes_back_from_rust() {
    check("echo");
}

#[test]
fn every_value_comes_back_from_python() {
    check("echo-python");
}

#[test]
fn every_value_comes_back_from_javascript() {
    check("echo-js");
}
