//! Reading a whole configuration: the file, the policy directory it names, and what it leaves out.

use crate::configuration::{Config, Entity, Settings};
use crate::draft::{Draft, drafts};
use crate::problem::{Cause, Errors};
use crate::report::Report;
use crate::settings::RouterConfig;
use crate::source::{Source, Span};
use crate::{rules, syntax};
use amqp::Value;
use management::schema::{self, Class, Invalid, POLICY, ROUTER, Source as From};
use management::{Attributes, EntityType, names};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 16 * 1024 * 1024;

impl Config {
    /// Reads a file, and the files in the policy directory if it names one.
    ///
    /// # Errors
    /// All that is wrong with them.
    pub fn load(path: &Path) -> Result<Self, Errors> {
        let name = path.to_string_lossy().into_owned();
        let unreadable = |error: io::Error| Errors {
            file: name.clone(),
            cause: Cause::Unreadable(error.to_string()),
            problems: Vec::new(),
            more: false,
            warnings: Vec::new(),
        };
        let bytes = read_file(path).map_err(unreadable)?;
        match String::from_utf8(bytes) {
            Ok(text) => Config::from_sources(&Source::new(&name, text), &mut read_policy_dir),
            Err(error) => Err(not_text(&name, &error)),
        }
    }

    /// Reads a configuration from text. `policy_dir` reads the JSON files of a directory, in the order of their names.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn from_sources(
        main: &Source,
        policy_dir: &mut dyn FnMut(&str) -> Result<Vec<Source>, String>,
    ) -> Result<Self, Errors> {
        let failed = |cause, report: Report| {
            let Report { mut problems, warnings, more } = report;
            problems.sort_by_key(|problem| problem.place.clone().filter(|place| *place.file == *main.name()));
            Errors { file: main.name().to_owned(), cause, problems, more, warnings }
        };
        if main.text().is_empty() {
            return Err(failed(Cause::Empty, Report::default()));
        }
        let mut report = Report::default();
        let mut parsed = syntax::parse(main);
        report.syntax(main, &mut parsed);
        let mut all = drafts(main, parsed.sections, &mut report);
        let policies = policy_sources(&all, policy_dir, &mut report);
        for source in &policies {
            let mut parsed = syntax::parse(source);
            report.syntax(source, &mut parsed);
            let vhosts = drafts(source, parsed.sections, &mut report);
            all.extend(vhosts.into_iter().filter(|draft| is_vhost(draft, &mut report)));
        }
        let without_effect = rules::check(&all, &mut report);
        if !report.problems.is_empty() {
            return Err(failed(Cause::Invalid, report));
        }
        for place in without_effect.into_iter().rev() {
            all.remove(place);
        }
        let entities = in_load_order(all);
        Ok(Config { router: router_of(&entities), entities, warnings: report.warnings })
    }

    /// Gives the router its id, if the configuration leaves it to chance.
    pub fn name_router(&mut self, id: &str) {
        self.router.id = Some(id.to_owned());
        for entity in self.entities.iter_mut().filter(|entity| *entity.entity_type == ROUTER) {
            entity.attributes.set("id", Value::from(id));
            entity.attributes.remove("name");
            names::assign(entity.entity_type, &mut entity.attributes, 0);
            entity.settings = Settings::Router(Box::new(self.router.clone()));
        }
    }
}

/// Points at the first byte that is no text.
fn not_text(name: &str, error: &FromUtf8Error) -> Errors {
    let offset = error.utf8_error().valid_up_to();
    let source = Source::new(name, String::from_utf8_lossy(error.as_bytes()));
    let mut report = Report::default();
    let invalid = Invalid::entity(Class::General, "The file is not encoded in UTF-8").hint("save the file as UTF-8");
    report.invalid(&source, Span { start: offset, end: offset }, invalid, Some("UTF-8 text".to_owned()));
    let Report { problems, warnings, more } = report;
    Errors { file: name.to_owned(), cause: Cause::Invalid, problems, more, warnings }
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_FILE) {
        return Err(io::Error::other("it is larger than 16 MiB"));
    }
    Ok(bytes)
}

/// Reads the JSON files of a directory, in the order of their names.
fn read_policy_dir(directory: &str) -> Result<Vec<Source>, String> {
    let entries = std::fs::read_dir(directory).map_err(|error| error.to_string())?;
    let mut paths: Vec<_> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let read = |path: &PathBuf| {
        let text = read_file(path).map(String::from_utf8).map_err(|error| format!("{}: {error}", path.display()))?;
        let text = text.map_err(|_| format!("{}: it is not encoded in UTF-8", path.display()))?;
        Ok(Source::new(&path.to_string_lossy(), text))
    };
    paths.iter().map(read).collect()
}

/// The files of the policy directory, if there is one.
fn policy_sources(
    drafts: &[Draft<'_>],
    policy_dir: &mut dyn FnMut(&str) -> Result<Vec<Source>, String>,
    report: &mut Report,
) -> Vec<Source> {
    let Some((draft, directory)) = drafts.iter().find_map(|draft| match &draft.settings {
        Settings::Policy(policy) => Some((draft, policy.policy_dir.as_deref()?)),
        _ => None,
    }) else {
        return Vec::new();
    };
    policy_dir(directory).unwrap_or_else(|error| {
        let text = format!("The policy directory '{directory}' cannot be read: {error}");
        let invalid = Invalid::attribute("policyDir", Class::General, text).hint("correct the path, or create it");
        report.invalid(draft.source, draft.span_of("policyDir"), invalid, None);
        Vec::new()
    })
}

/// Policy files hold vhosts only.
fn is_vhost(draft: &Draft<'_>, report: &mut Report) -> bool {
    let vhost = draft.entity_type.short == "vhost";
    if !vhost {
        let text = format!("Policy files may only contain 'vhost', not '{}'", draft.entity_type.section);
        let invalid = Invalid::entity(Class::Validation, text).hint("move the section to the router's own file");
        report.invalid(draft.source, draft.node.span, invalid, None);
    }
    vhost
}

/// The entities in the order in which they are to be put to work, router and policy added if they are missing.
fn in_load_order(drafts: Vec<Draft<'_>>) -> Vec<Entity> {
    let mut entities: Vec<Entity> = drafts
        .into_iter()
        .map(|draft| Entity {
            place: Some(draft.source.place(draft.node.span.start)),
            entity_type: draft.entity_type,
            attributes: draft.attributes,
            settings: draft.settings,
        })
        .collect();
    for singleton in [&ROUTER, &POLICY] {
        if !entities.iter().any(|entity| entity.entity_type == singleton) {
            entities.extend(default_entity(singleton));
        }
    }
    entities.sort_by_key(|entity| rank(entity.entity_type));
    entities
}

/// An entity of which nothing is given.
fn default_entity(entity_type: &'static EntityType) -> Option<Entity> {
    let mut attributes = schema::validate_create(entity_type, &Attributes::new(), From::File).ok()?.attributes;
    names::assign(entity_type, &mut attributes, 0);
    let settings = Settings::from_attributes(entity_type, &attributes).ok()?;
    Some(Entity { entity_type, attributes, place: None, settings })
}

fn rank(entity_type: &EntityType) -> usize {
    const ORDER: [&str; 15] = [
        "log",
        "router",
        "policy",
        "sslProfile",
        "authServicePlugin",
        "router.config.address",
        "router.config.linkRoute",
        "router.config.autoLink",
        "router.config.exchange",
        "router.config.binding",
        "store",
        "topic",
        "queue",
        "queueTemplate",
        "vhost",
    ];
    match entity_type.short {
        "connector" => ORDER.len() + 1,
        "listener" => ORDER.len() + 2,
        short => ORDER.iter().position(|known| *known == short).unwrap_or(ORDER.len()),
    }
}

pub(crate) fn router_of(entities: &[Entity]) -> RouterConfig {
    let router = entities.iter().find_map(|entity| match &entity.settings {
        Settings::Router(router) => Some(router.as_ref().clone()),
        _ => None,
    });
    router.unwrap_or_default()
}
