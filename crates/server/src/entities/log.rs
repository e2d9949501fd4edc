//! `log`: what is logged, and where to.

use crate::shard::Shards;
use amqp::Value;
use logging::{Entry, Level, Module, Settings};
use management::{Attributes, Failure};

/// A row for each module that can be configured; what a module does not set it inherits from `DEFAULT`.
pub(crate) struct LogEntities {
    rows: Vec<(Module, Attributes)>,
}

impl Default for LogEntities {
    /// The rows before anything is configured: `DEFAULT` with its defaults, the others with nothing set.
    fn default() -> Self {
        let configurable = Module::ALL.iter().copied().filter(|module| module.is_configurable());
        LogEntities { rows: configurable.map(|module| (module, unset_row(module))).collect() }
    }
}

impl LogEntities {
    pub(super) fn rows(&self) -> Vec<Attributes> {
        self.rows.iter().map(|(_, row)| row.clone()).collect()
    }

    /// Applies a `log` section.
    ///
    /// # Errors
    /// A level that does not exist, or a file that cannot be opened.
    pub(crate) fn configure(&mut self, section: &Attributes) -> Result<(), String> {
        let name = section.text("module").unwrap_or_default();
        let found = self.rows.iter_mut().find(|(module, _)| module.name() == name);
        let (module, row) = found.ok_or_else(|| format!("There is no log module '{name}'"))?;
        let mut changed = row.clone();
        for (name, value) in section.iter() {
            changed.set(name, value.clone());
        }
        apply(*module, &changed)?;
        *row = changed;
        Ok(())
    }

    /// Takes back what was configured for a module.
    ///
    /// # Errors
    /// There is no such module.
    pub(crate) fn reset(&mut self, module: &str) -> Result<(), String> {
        let found = self.rows.iter_mut().find(|(known, _)| known.name() == module);
        let (module, row) = found.ok_or_else(|| format!("There is no log module '{module}'"))?;
        *row = unset_row(*module);
        apply(*module, row)
    }

    /// Changes a module's settings while the router runs. What is refused changes nothing.
    pub(super) fn update(
        &mut self,
        identity: &str,
        changes: Attributes,
        shards: &Shards,
    ) -> Result<Attributes, Failure> {
        let found = self.rows.iter_mut().find(|(_, row)| row.text("identity") == Some(identity));
        let (module, row) = found.ok_or_else(Failure::not_found)?;
        let mut changed = row.clone();
        for (name, value) in changes.iter() {
            changed.set(name, value.clone());
        }
        let traced_before = logging::enabled(Module::Protocol, Level::Trace);
        apply(*module, &changed).map_err(|error| Failure::internal(format!("CError: Configuration: {error}")))?;
        *row = changed;
        let traced = logging::enabled(Module::Protocol, Level::Trace);
        if traced != traced_before || *module == Module::Protocol {
            // The connections that there are follow, whatever was set for one alone.
            shards.trace_all(traced);
        }
        Ok(row.clone())
    }
}

fn apply(module: Module, row: &Attributes) -> Result<(), String> {
    let text = |name: &str| row.text(name).map(str::to_owned);
    let settings = Settings {
        // An empty list of levels enables none; only one that is not given is inherited.
        enable: text("enable"),
        include_timestamp: row.boolean("includeTimestamp"),
        include_source: row.boolean("includeSource"),
        output_file: text("outputFile"),
    };
    logging::configure(module, settings).map_err(|error| error.to_string())
}

fn unset_row(module: Module) -> Attributes {
    let identity = format!("log/{module}");
    let mut row = Attributes::new();
    let mut set = |name: &str, text: &str| row.set(name, Value::String(text.to_owned()));
    set("module", module.name());
    set("name", &identity);
    set("identity", &identity);
    set("type", "org.apache.qpid.dispatch.log");
    if module == Module::Default {
        set("enable", "info+");
        set("outputFile", "stderr");
        row.set("includeTimestamp", Value::Bool(true));
        row.set("includeSource", Value::Bool(false));
    }
    row
}

/// A log entry in the form of GET-LOG: module, level, text, file, line, seconds since the Unix epoch.
pub(super) fn entry_as_value(entry: Entry) -> Value {
    let text = |text: &str| Value::String(text.to_owned());
    Value::List(vec![
        text(entry.module.name()),
        text(entry.level.name()),
        Value::String(entry.text),
        entry.origin.map_or(Value::Null, |origin| text(origin.file)),
        entry.origin.map_or(Value::Null, |origin| Value::Uint(origin.line)),
        Value::Ulong(entry.time.as_secs()),
    ])
}
