//! Units: a table of factors to a base unit for each category, and temperature by its own rules.

use loopwright_sdk::{Failure, Phone, Reply};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{decimal, number};

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Category {
    Length,
    Mass,
    Temperature,
    Volume,
    Area,
    Speed,
    Time,
    Data,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ConvertUnit {
    /// What is measured.
    category: Category,
    /// The unit of `value`, by its symbol or English name, such as `kg` or `kilograms`.
    from_unit: String,
    /// The unit of the result.
    to_unit: String,
    /// The value.
    value: f64,
}

/// A unit: symbol, English names, and how many base units it is.
type Unit = (&'static str, &'static [&'static str], f64);

const LENGTH: &[Unit] = &[
    ("m", &["meter", "meters", "metre", "metres"], 1.0),
    ("km", &["kilometer", "kilometers", "kilometre", "kilometres"], 1000.0),
    ("cm", &["centimeter", "centimeters", "centimetre", "centimetres"], 0.01),
    ("mm", &["millimeter", "millimeters", "millimetre", "millimetres"], 0.001),
    ("mi", &["mile", "miles"], 1609.344),
    ("yd", &["yard", "yards"], 0.9144),
    ("ft", &["foot", "feet"], 0.3048),
    ("in", &["inch", "inches"], 0.0254),
];
const MASS: &[Unit] = &[
    ("kg", &["kilogram", "kilograms"], 1.0),
    ("g", &["gram", "grams"], 0.001),
    ("mg", &["milligram", "milligrams"], 1e-6),
    ("t", &["tonne", "tonnes"], 1000.0),
    ("lb", &["pound", "pounds", "lbs"], 0.453_592_37),
    ("oz", &["ounce", "ounces"], 0.028_349_523_125),
    ("jin", &["catty"], 0.5),
];
const VOLUME: &[Unit] = &[
    ("l", &["liter", "liters", "litre", "litres"], 1.0),
    ("ml", &["milliliter", "milliliters", "millilitre", "millilitres"], 0.001),
    ("m3", &["cubic_meter", "cubic_meters"], 1000.0),
    ("gal", &["gallon", "gallons"], 3.785_411_784),
    ("cup", &["cups"], 0.236_588_236_5),
    ("floz", &["fluid_ounce", "fluid_ounces"], 0.029_573_529_562_5),
];
const AREA: &[Unit] = &[
    ("m2", &["square_meter", "square_meters"], 1.0),
    ("km2", &["square_kilometer", "square_kilometers"], 1e6),
    ("ha", &["hectare", "hectares"], 10_000.0),
    ("mu", &["chinese_acre"], 2000.0 / 3.0),
    ("acre", &["acres"], 4_046.856_422_4),
    ("ft2", &["square_foot", "square_feet"], 0.092_903_04),
];
const SPEED: &[Unit] = &[
    ("mps", &["m/s", "meters_per_second"], 1.0),
    ("kmh", &["km/h", "kph", "kilometers_per_hour"], 1000.0 / 3600.0),
    ("mph", &["miles_per_hour"], 0.447_04),
    ("kn", &["knot", "knots"], 1852.0 / 3600.0),
];
const TIME: &[Unit] = &[
    ("s", &["second", "seconds"], 1.0),
    ("min", &["minute", "minutes"], 60.0),
    ("h", &["hour", "hours"], 3600.0),
    ("d", &["day", "days"], 86_400.0),
    ("wk", &["week", "weeks"], 604_800.0),
];
const DATA: &[Unit] = &[
    ("b", &["byte", "bytes"], 1.0),
    ("kb", &["kilobyte", "kilobytes"], 1e3),
    ("mb", &["megabyte", "megabytes"], 1e6),
    ("gb", &["gigabyte", "gigabytes"], 1e9),
    ("tb", &["terabyte", "terabytes"], 1e12),
    ("kib", &["kibibyte", "kibibytes"], 1024.0),
    ("mib", &["mebibyte", "mebibytes"], 1_048_576.0),
    ("gib", &["gibibyte", "gibibytes"], 1_073_741_824.0),
];
const TEMPERATURE: &[Unit] =
    &[("c", &["celsius", "°c", "℃"], 1.0), ("f", &["fahrenheit", "°f", "℉"], 1.0), ("k", &["kelvin"], 1.0)];

impl Category {
    fn units(self) -> &'static [Unit] {
        match self {
            Self::Length => LENGTH,
            Self::Mass => MASS,
            Self::Temperature => TEMPERATURE,
            Self::Volume => VOLUME,
            Self::Area => AREA,
            Self::Speed => SPEED,
            Self::Time => TIME,
            Self::Data => DATA,
        }
    }

    fn unit(self, argument: &str, text: &str) -> Result<Unit, Failure> {
        let wanted = text.trim().to_lowercase().replace(' ', "_");
        self.units()
            .iter()
            .find(|(symbol, names, _)| *symbol == wanted || names.contains(&wanted.as_str()))
            .copied()
            .ok_or_else(|| {
                // Every accepted symbol is listed: an error that hides them cannot be learned from.
                let allowed: Vec<String> = self
                    .units()
                    .iter()
                    .map(|(symbol, names, _)| {
                        names.first().map_or_else(|| (*symbol).to_owned(), |name| format!("{symbol} ({name})"))
                    })
                    .collect();
                Failure::bad_argument(argument, allowed, text)
            })
    }
}

pub(crate) fn convert(_: &mut Phone, arguments: ConvertUnit) -> Result<Reply, Failure> {
    let from = arguments.category.unit("fromUnit", &arguments.from_unit)?;
    let to = arguments.category.unit("toUnit", &arguments.to_unit)?;
    let value = match arguments.category {
        Category::Temperature => temperature(arguments.value, from.0, to.0),
        _ => arguments.value * from.2 / to.2,
    };
    if !value.is_finite() {
        return Err(Failure::bad_argument("value", "a value whose result is finite", arguments.value));
    }
    let text = decimal(value, 6);
    Ok(Reply::new(
        format!("{} {} = {text} {}", arguments.value, from.0, to.0),
        json!({"value": number(&text), "unit": to.0}),
    ))
}

fn temperature(value: f64, from: &str, to: &str) -> f64 {
    let celsius = match from {
        "f" => (value - 32.0) * 5.0 / 9.0,
        "k" => value - 273.15,
        _ => value,
    };
    match to {
        "f" => celsius * 9.0 / 5.0 + 32.0,
        "k" => celsius + 273.15,
        _ => celsius,
    }
}
