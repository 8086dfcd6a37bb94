//! A registry of a few lines, which takes note of every request, and answers 500 to one that it does not expect.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

/// What is answered to requests of a kind.
#[derive(Clone)]
pub struct Answer {
    request: String,
    account: Option<String>,
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// An answer to `METHOD /path`.
pub fn on(request: &str, status: u16) -> Answer {
    Answer { request: request.to_owned(), account: None, status, headers: Vec::new(), body: Vec::new() }
}

impl Answer {
    /// With a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Only to requests with this `Authorization`.
    pub fn to(mut self, account: &str) -> Self {
        self.account = Some(account.to_owned());
        self
    }
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub request: String,
    pub account: Option<String>,
    pub content_type: Option<String>,
    pub body: Vec<u8>,
}

/// The registry; it ends when dropped.
pub struct Mock {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    unexpected: Arc<Mutex<Vec<String>>>,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Mock {
    /// Starts one. The first answer that fits a request is given, as often as it is asked for. `HOST` in a header or a body
    /// becomes the address.
    pub fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, unexpected, ended) = (Arc::default(), Arc::default(), Arc::new(AtomicBool::new(false)));
        let mut mock = Self {
            address,
            seen: Arc::clone(&seen),
            unexpected: Arc::clone(&unexpected),
            ended: Arc::clone(&ended),
            thread: None,
        };
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let mut stream = stream.unwrap();
                let Some(request) = read(&stream) else { continue };
                let answer = answers.iter().find(|answer| {
                    answer.request == request.request && (answer.account.is_none() || answer.account == request.account)
                });
                if answer.is_none() {
                    unexpected.lock().unwrap().push(format!("{} as {:?}", request.request, request.account));
                }
                seen.lock().unwrap().push(request);
                write(&mut stream, answer.unwrap_or(&on("", 500)), address);
            }
        });
        mock.thread = Some(thread);
        mock
    }

    /// `127.0.0.1:PORT`
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// All requests so far; fails if one of them was not expected.
    pub fn seen(&self) -> Vec<Seen> {
        let unexpected = self.unexpected.lock().unwrap();
        assert!(unexpected.is_empty(), "unexpected: {unexpected:#?}");
        self.seen.lock().unwrap().clone()
    }

    /// Method, path and account of all requests so far.
    pub fn lines(&self) -> Vec<String> {
        let line = |seen: Seen| format!("{} {}", seen.request, seen.account.unwrap_or_default()).trim_end().to_owned();
        self.seen().into_iter().map(line).collect()
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // Wakes it.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(thread::panicking() || ended.is_ok(), "the registry failed");
        }
    }
}

fn read(stream: &TcpStream) -> Option<Seen> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let request = line.trim_end().strip_suffix(" HTTP/1.1")?.to_owned();
    let (mut account, mut content_type, mut length) = (None, None, 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "authorization" => account = Some(value.to_owned()),
            "content-type" => content_type = Some(value.to_owned()),
            "content-length" => length = value.parse().unwrap(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Seen { request, account, content_type, body })
}

fn write(stream: &mut TcpStream, answer: &Answer, address: SocketAddr) {
    let host = address.to_string();
    let mut head =
        format!("HTTP/1.1 {} X\r\nConnection: close\r\nContent-Length: {}\r\n", answer.status, answer.body.len());
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {}\r\n", value.replace("HOST", &host)));
    }
    head.push_str("\r\n");
    // A client that has read enough may be gone.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&answer.body));
    let _ = stream.shutdown(Shutdown::Write);
}
