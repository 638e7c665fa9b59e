//! The cache of kernels and programs for guests: packages are downloaded by the host's package
//! manager with a private configuration, and unpacked; nothing is installed.

use crate::error::{Error, Result};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Debian releases from which packages come.
const RELEASES: [&str; 2] = ["bookworm", BACKPORTS];
/// The one with newer versions, used only if requested.
pub(crate) const BACKPORTS: &str = "bookworm-backports";
/// Debian's name for the architecture of this program.
pub(crate) const HOST: &str = if cfg!(target_arch = "aarch64") {
    "arm64"
} else if cfg!(target_arch = "arm") {
    "armhf"
} else {
    "amd64"
};
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// The file with the name, version and checksum of an unpacked package.
const ORIGIN: &str = "package";

/// The folder of the cache.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// An unpacked package.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Package {
    /// Where its files are.
    pub folder: PathBuf,
    pub name: String,
    pub version: String,
    /// The SHA-256 of its file.
    pub sha256: String,
}

impl Cache {
    /// A cache in this folder, which need not exist.
    pub fn new(folder: PathBuf) -> Cache {
        Cache { folder }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The package kept under this name; `None` if there is none.
    pub fn cached(&self, name: &str) -> Option<Package> {
        let folder = self.folder.join(name);
        let origin = fs::read_to_string(folder.join(ORIGIN)).ok()?;
        let mut words = origin.split_whitespace().map(str::to_string);
        Some(Package { folder, name: words.next()?, version: words.next()?, sha256: words.next()? })
    }

    /// Downloads the newest matching package, and keeps its contents under this name.
    pub(crate) fn fetch(
        &self,
        apt: &Apt,
        name: &str,
        fits: &dyn Fn(&str) -> bool,
    ) -> Result<Package> {
        let names = apt.run("apt-cache", &["pkgnames"])?;
        let mut fitting: Vec<&str> = names.lines().filter(|name| fits(name)).collect();
        fitting.sort_by_key(|name| numbers(name));
        let package = fitting.last().ok_or_else(|| Error::NoPackage {
            what: name.to_string(),
            architecture: apt.architecture.clone(),
        })?;
        let file = apt.download(package, None)?;
        self.unpack(name, package, &file)
    }

    /// Unpacks to a temporary folder first, so that the final one is always complete.
    fn unpack(&self, name: &str, package: &str, file: &Path) -> Result<Package> {
        let (folder, beside) = (self.folder.join(name), self.folder.join(format!("{name}.new")));
        for old in [&beside, &folder] {
            if old.exists() {
                fs::remove_dir_all(old).map_err(Error::io("remove", old))?;
            }
        }
        fs::create_dir_all(&beside).map_err(Error::io("create", &beside))?;
        output_of(Command::new("dpkg-deb").arg("-x").arg(file).arg(&beside))?;
        let bytes = fs::read(file).map_err(Error::io("read", file))?;
        let sha256 = hex(&Sha256::digest(bytes));
        let version = output_of(Command::new("dpkg-deb").arg("-f").arg(file).arg("Version"))?;
        let version = version.trim().to_string();
        let origin = beside.join(ORIGIN);
        fs::write(&origin, format!("{package} {version} {sha256}\n"))
            .map_err(Error::io("write", &origin))?;
        fs::rename(&beside, &folder).map_err(Error::io("create", &folder))?;
        // Failure is harmless: it only saves space, and the file can be downloaded again.
        let _ = fs::remove_file(file);
        Ok(Package { folder, name: package.to_string(), version, sha256 })
    }
}

/// Builds a folder under a temporary name first, so that the final one is always complete. A
/// concurrent builder produces the same.
pub(crate) fn make_whole(folder: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    remove_abandoned(folder);
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let beside = folder.with_file_name(format!("{name}.{}", std::process::id()));
    fs::create_dir_all(&beside).map_err(Error::io("create", &beside))?;
    let made = make(&beside).and_then(|()| match fs::rename(&beside, folder) {
        Err(_) if folder.is_dir() => Ok(()),
        renamed => renamed.map_err(Error::io("create", folder)),
    });
    let _ = fs::remove_dir_all(&beside);
    made
}

/// Removes what killed processes have left of [`make_whole`] for this folder.
fn remove_abandoned(folder: &Path) {
    let name = format!("{}.", folder.file_name().unwrap_or_default().to_string_lossy());
    let entries = folder.parent().and_then(|parent| fs::read_dir(parent).ok());
    for entry in entries.into_iter().flatten().flatten() {
        let of = entry.file_name().to_string_lossy().strip_prefix(&name).map(str::parse::<u32>);
        if let Some(Ok(process)) = of
            && !Path::new("/proc").join(process.to_string()).exists()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The file below a folder whose name matches; links out of the folder are ignored.
pub(crate) fn find(folder: &Path, fits: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).ok()?.flatten() {
            let path = entry.path();
            let leads_out = || fs::read_link(&path).is_ok_and(|to| to.is_absolute());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(_) if fits(&entry.file_name().to_string_lossy()) && !leads_out() => {
                    return Some(path);
                }
                _ => {}
            }
        }
    }
    None
}

/// The package manager with private lists and packages.
pub(crate) struct Apt {
    architecture: String,
    folder: PathBuf,
    options: Vec<String>,
    /// Locked while these lists are used: apt fails if another process uses them.
    _lock: File,
}

impl Apt {
    /// Updates the lists, for an architecture of Debian.
    pub(crate) fn prepare(cache: &Cache, architecture: &str) -> Result<Apt> {
        let folder = cache.folder.join("apt").join(architecture);
        for part in ["lists/partial", "archives/partial", "packages"] {
            let part = folder.join(part);
            fs::create_dir_all(&part).map_err(Error::io("create", &part))?;
        }
        let path = folder.join("lock");
        let lock = File::create(&path).map_err(Error::io("create", &path))?;
        lock.lock().map_err(Error::io("lock", &path))?;
        let sources = folder.join("sources.list");
        let path = folder.display();
        let options = [
            format!("APT::Architecture={architecture}"),
            format!("APT::Architectures={architecture}"),
            "Dir::State::status=/dev/null".to_string(),
            format!("Dir::State::lists={path}/lists"),
            format!("Dir::Cache={path}"),
            format!("Dir::Etc::sourcelist={}", sources.display()),
            "Dir::Etc::sourceparts=/dev/null".to_string(),
            "APT::Sandbox::User=".to_string(),
        ];
        let options = options.into_iter().flat_map(|one| ["-o".to_string(), one]).collect();
        let apt = Apt { architecture: architecture.to_string(), folder, options, _lock: lock };
        let lines = RELEASES
            .map(|release| Ok(format!("deb [signed-by={KEYS}] {} {release} main\n", mirror()?)));
        let lines: String = lines.into_iter().collect::<Result<_>>()?;
        fs::write(&sources, lines).map_err(Error::io("write", &sources))?;
        apt.run("apt-get", &["update"])?;
        Ok(apt)
    }

    fn run(&self, program: &str, words: &[&str]) -> Result<String> {
        let folder = self.folder.join("packages");
        output_of(
            Command::new(program).arg("-qq").args(&self.options).args(words).current_dir(folder),
        )
    }

    /// Downloads a package, from this release if it is not the usual one.
    pub(crate) fn download(&self, package: &str, release: Option<&str>) -> Result<PathBuf> {
        let release = release.map(|release| ["-t", release]).into_iter().flatten();
        let words: Vec<&str> = release.chain(["download", package]).collect();
        self.run("apt-get", &words)?;
        let folder = self.folder.join("packages");
        let files = fs::read_dir(&folder).map_err(Error::io("read", &folder))?;
        let begins = format!("{package}_");
        let file = files.flatten().map(|file| file.path()).find(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&begins))
        });
        file.ok_or_else(|| Error::NoPackage {
            what: package.to_string(),
            architecture: self.architecture.clone(),
        })
    }
}

/// The mirror of this host's packages, which has all architectures.
fn mirror() -> Result<String> {
    let format = ["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"];
    let known = output_of(Command::new("apt-get").args(format))?;
    let mirror = known.lines().find(|line| line.contains("/debian") && !line.contains("security"));
    mirror.map(str::to_string).ok_or(Error::NoMirror)
}

/// Runs a program and returns its output.
pub(crate) fn output_of(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let Output { status, stdout, stderr } = match command.output() {
        Ok(output) => output,
        Err(error) => return Err(Error::Missing { program, error }),
    };
    let said = String::from_utf8_lossy(&stderr);
    match status.success() {
        true => Ok(String::from_utf8_lossy(&stdout).into_owned()),
        false => Err(Error::Failed {
            program,
            said: said.lines().last().unwrap_or("it printed nothing").to_string(),
        }),
    }
}

/// Writes a file that is complete as soon as it exists.
pub(crate) fn write_whole(file: &Path, bytes: &[u8]) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let failed = || Error::io("write a file in", folder);
    let mut new = tempfile::NamedTempFile::new_in(folder).map_err(failed())?;
    new.write_all(bytes).map_err(failed())?;
    new.persist(file).map_err(|error| failed()(error.error))?;
    Ok(())
}

/// The numbers in a name, by which versions are ordered.
fn numbers(name: &str) -> Vec<u64> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_is_the_one_of_the_largest_numbers() {
        let mut names = [
            "linux-image-6.1.0-9-amd64",
            "linux-image-6.1.0-50-amd64",
            "linux-image-6.1.0-41-amd64",
        ];
        names.sort_by_key(|name| numbers(name));
        assert_eq!(names[2], "linux-image-6.1.0-50-amd64");
    }

    #[test]
    fn what_a_killed_process_has_begun_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let name = |of: u32| place.path().join(format!("linux-headers-6.1.0-50-amd64.{of}"));
        let of_nobody = name(u32::MAX);
        let of_another = name(std::os::unix::process::parent_id());
        for folder in [&of_nobody, &of_another] {
            fs::create_dir_all(folder.join("usr")).unwrap();
        }
        let folder = place.path().join("linux-headers-6.1.0-50-amd64");
        make_whole(&folder, |_| Ok(())).unwrap();
        assert!(folder.is_dir() && of_another.is_dir() && !of_nobody.exists());
    }

    #[test]
    fn a_place_that_is_taken_by_a_file_is_an_error() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("linux-headers-6.1.0-50-amd64");
        fs::write(&folder, "").unwrap();
        let error = make_whole(&folder, |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("linux-headers-6.1.0-50-amd64"), "{error}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_was_made_only_half_is_not_there() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("linux-headers-6.1.0-50-amd64");
        let half = |beside: &Path| {
            fs::write(beside.join("one"), "1").unwrap();
            Err(Error::NoMirror)
        };
        assert!(make_whole(&folder, half).is_err());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        make_whole(&folder, |beside| {
            fs::write(beside.join("two"), "2").unwrap();
            Ok(())
        })
        .unwrap();
        assert!(folder.join("two").exists() && !folder.join("one").exists());
    }

    #[test]
    fn what_is_kept_says_where_it_came_from() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().to_path_buf());
        assert_eq!(cache.cached("kernels/arm64/rt-6.1"), None);
        let place = folder.path().join("kernels/arm64/rt-6.1");
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join(ORIGIN), "linux-image-x 6.1.1-1 abc\n").unwrap();
        let kept = cache.cached("kernels/arm64/rt-6.1").unwrap();
        assert_eq!((kept.name.as_str(), kept.sha256.as_str()), ("linux-image-x", "abc"));
    }
}
