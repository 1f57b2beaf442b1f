//! A browser without a screen, and the pages that it is shown.

use alloc::sync::Arc;
use core::time::Duration;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use bytes::Bytes;
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::sync::{Mutex, MutexGuard, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::http::{self, Answer};
use crate::table::Place;

pub(crate) type Failure = Box<dyn core::error::Error>;

/// One browser at a time: they take a core each.
static TURN: Mutex<()> = Mutex::const_new(());

/// The browser that `POROUS_BROWSER` names, or Chromium, and a turn with it. `None`, and a line that says so, if it is
/// not here; in CI that is a failure.
pub(crate) async fn browser() -> Option<(String, MutexGuard<'static, ()>)> {
    let name = env::var("POROUS_BROWSER").unwrap_or_else(|_| "chromium".to_owned());
    let paths = env::var_os("PATH").unwrap_or_default();
    if env::split_paths(&paths).any(|folder| folder.join(&name).is_file()) {
        return Some((name, TURN.lock().await));
    }
    assert!(env::var_os("CI").is_none(), "{name} is not here");
    eprintln!("skipped: {name} is not here");
    None
}

/// The pages, and what they tell.
pub(crate) struct Pages {
    port: u16,
    pub(crate) place: watch::Sender<Place>,
    told: mpsc::UnboundedReceiver<serde_json::Value>,
    server: JoinHandle<std::io::Result<()>>,
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn file(path: &str) -> Option<Answer> {
    const SCRIPT: &str = "text/javascript; charset=utf-8";
    let (kind, bytes) = match path {
        "/case.html" => ("text/html", include_bytes!("case.html").as_slice()),
        "/keys.html" => ("text/html", include_bytes!("keys.html").as_slice()),
        "/shot.html" => ("text/html", include_bytes!("shot.html").as_slice()),
        "/case.js" => (SCRIPT, include_bytes!("case.js").as_slice()),
        "/pkg/porous_wasm.js" => (
            SCRIPT,
            include_bytes!("../../../porous-wasm/pkg/porous_wasm.js").as_slice(),
        ),
        "/pkg/porous_wasm_bg.wasm" => (
            "application/wasm",
            include_bytes!("../../../porous-wasm/pkg/porous_wasm_bg.wasm").as_slice(),
        ),
        path => return http::file(path),
    };
    Some((kind, Bytes::from_static(bytes)))
}

impl Pages {
    pub(crate) async fn serve(first: Place) -> Result<Self, Failure> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let (place, at) = watch::channel(first);
        let (sender, told) = mpsc::unbounded_channel();
        let answers = move |path: &str, body: &Bytes| match path {
            "/place" => Some(("application/json", at.borrow().json())),
            "/told" => {
                let text = serde_json::from_slice(body).ok()?;
                // A page may outlive its test.
                let _told = sender.send(text);
                Some(("text/plain", Bytes::new()))
            }
            path => file(path),
        };
        let server = tokio::spawn(http::serve(listener, Arc::new(answers)));
        Ok(Self {
            port,
            place,
            told,
            server,
        })
    }

    /// What a page tells next.
    pub(crate) async fn next(&mut self) -> Result<serde_json::Value, Failure> {
        let text = self.told.recv().await.ok_or("no pages")?;
        match text.get("error") {
            Some(error) => Err(format!("the page says: {error}").into()),
            None => Ok(text),
        }
    }

    /// Waits until a page tells of this status. Returns its words.
    pub(crate) async fn until(&mut self, status: &str) -> Result<String, Failure> {
        loop {
            let text = self.next().await?;
            if text["status"] == status {
                return Ok(text["words"].to_string());
            }
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }
}

/// A browser that runs until this is dropped.
pub(crate) struct Running {
    _process: Child,
    _profile: TempDir,
}

/// What a browser shows, in which colours, and into which picture.
pub(crate) struct View<'v> {
    pub(crate) size: [u32; 2],
    pub(crate) is_dark: bool,
    pub(crate) picture: Option<&'v Path>,
}

/// Pages of which nobody needs a picture.
pub(crate) const UNSEEN: View<'_> = View {
    size: [900, 900],
    is_dark: false,
    picture: None,
};

fn command(name: &str, url: &str, view: &View<'_>, profile: &Path) -> std::io::Result<Command> {
    let [width, height] = view.size;
    let mut command = Command::new(name);
    if name.starts_with("firefox") {
        fs::write(
            profile.join("user.js"),
            "user_pref(\"network.captive-portal-service.enabled\", false);\n\
             user_pref(\"network.connectivity-service.enabled\", false);\n\
             user_pref(\"datareporting.policy.dataSubmissionEnabled\", false);\n",
        )?;
        command.env("HOME", profile);
        command
            .args(["--headless", "--no-remote", "--profile"])
            .arg(profile);
        command.args(["--window-size", &format!("{width},{height}")]);
        if let Some(picture) = view.picture {
            command.arg("--screenshot").arg(picture);
        }
    } else {
        command.args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
        ]);
        command.arg(format!("--user-data-dir={}", profile.display()));
        command.arg(format!("--window-size={width},{height}"));
        if view.is_dark {
            command.arg("--blink-settings=preferredColorScheme=0");
        }
        if let Some(picture) = view.picture {
            command.arg(format!("--screenshot={}", picture.display()));
        }
    }
    command.arg(url);
    Ok(command)
}

pub(crate) fn show(name: &str, url: &str, view: &View<'_>) -> Result<Running, Failure> {
    let profile = TempDir::new()?;
    let process = command(name, url, view, profile.path())?
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    Ok(Running {
        _process: process,
        _profile: profile,
    })
}

/// A picture of the page of the arena, after it was played for this long.
pub(crate) async fn picture(
    name: &str,
    pages: &Pages,
    view: &View<'_>,
    played: Duration,
) -> Result<(), Failure> {
    // A browser takes its picture when the page is loaded, and so long a part of the page is missing.
    let holder = TcpListener::bind("127.0.0.1:0").await?;
    let port = holder.local_addr()?.port();
    let held = tokio::spawn(async move {
        let (mut stream, _) = holder.accept().await?;
        let mut head = [0; 1024];
        let _asked = stream.read(&mut head).await?;
        sleep(played).await;
        Ok::<(), std::io::Error>(())
    });
    let mut running = show(name, &pages.url(&format!("shot.html?{port}")), view)?;
    held.await??;
    running._process.wait().await?;
    Ok(())
}

/// The folder for pictures, if somebody wants them.
pub(crate) fn pictures() -> Option<PathBuf> {
    env::var_os("POROUS_PICTURES").map(PathBuf::from)
}
