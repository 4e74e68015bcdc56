//! Measures OpenID Connect: the token endpoint compared with its signature; userinfo, the documents
//! of an issuer and the forward-auth endpoint compared with a bare handler that returns an equal
//! body; and the overhead of forward authentication behind nginx.

use std::collections::BTreeMap;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use signpost_bench::goals::missing;
use signpost_bench::load::{Measured, burst, median};
use signpost_bench::server::ApiTarget;
use signpost_bench::{
    Program, ROUND, ROUNDS, Server, Variant, compare, exchange, get_with, per_second, post, print, report,
    send_request, serve_or_measure,
};
use signpost_openid::jose::{PrivateKey, SigningAlgorithm, generate_pkcs8};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CONNECTIONS: usize = 32;
/// Number of authorization codes per round. They are issued in advance, and expire after a minute.
const CODES: usize = 1_200;
/// Number of rounds of code exchanges.
const CODE_ROUNDS: usize = 3;
/// Number of requests through nginx, in sequence.
const NGINX_REQUESTS: usize = 1_000;
/// The code verifier in RFC 7636, appendix B.
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

fn main() -> Result<()> {
    serve_or_measure(measure)
}

async fn measure() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let program = Program::start(&[&format!("data_dir={}", folder.path().display())])?;
    let domain = ClientDomain::open(&program.target).await?;
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let (mut browser, cookie) = domain.log_in(port).await?;
    tokens(&program, &domain, &mut browser).await?;
    userinfo(&program, &domain, &mut browser).await?;
    documents(&program, &domain).await?;
    forward(&program, &domain, port, &cookie).await?;
    behind_nginx(&program, &domain, port, &cookie).await
}

/// A domain with an OpenID Connect client that accepts all users without consent.
struct ClientDomain<'a> {
    target: &'a ApiTarget,
    issuer: String,
    client: String,
    secret: String,
}

/// The cookies of a browser for a host.
#[derive(Default)]
struct Cookies(BTreeMap<String, String>);

/// An HTTP response, split into its head and its body.
struct RawResponse {
    head: String,
    body: String,
}

impl RawResponse {
    fn location(&self) -> Result<&str> {
        let line = self.head.lines().find_map(|line| line.strip_prefix("location: "));
        line.with_context(|| format!("no way on: {} {}", self.head, self.body))
    }

    /// Returns the path that the redirect leads to on this server.
    fn redirect_path(&self) -> Result<String> {
        path_of(self.location()?)
    }
}

fn path_of(url: &str) -> Result<String> {
    Ok(format!("/{}", url.splitn(4, '/').nth(3).context("a path")?))
}

/// Requests a page with the stored cookies, and stores the cookies of the response.
async fn visit(address: SocketAddr, path: &str, headers: &str, cookies: &mut Cookies) -> Result<RawResponse> {
    let sent: Vec<_> = cookies.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let sent = if sent.is_empty() { String::new() } else { format!("cookie: {}\r\n", sent.join("; ")) };
    let mut connection = TcpStream::connect(address).await?;
    connection.write_all(&get_with(path, &format!("{headers}{sent}connection: close\r\n"))).await?;
    let mut reply = String::new();
    connection.read_to_string(&mut reply).await?;
    let (head, body) = reply.split_once("\r\n\r\n").context("a head")?;
    for set in head.lines().filter_map(|line| line.strip_prefix("set-cookie: ")) {
        let (name, value) = set.split(';').next().and_then(|pair| pair.split_once('=')).context("a cookie")?;
        cookies.0.insert(name.to_owned(), value.to_owned());
    }
    Ok(RawResponse { head: head.to_owned(), body: body.to_owned() })
}

impl<'a> ClientDomain<'a> {
    async fn open(target: &'a ApiTarget) -> Result<Self> {
        target.host("localhost", "http://localhost:9/").await?;
        let domains: Value = serde_json::from_slice(
            &send_request(target.address, &get_with("/sandbox/v1/domains", &target.authorization)).await?,
        )?;
        let id = domains["domains"][0]["id"].as_str().context("an id")?.to_owned();
        let client = json!({
            "redirect_uris": ["http://localhost:9/.signpost/callback", "http://localhost:9/cb"],
            "trusted": true, "allow": ["*"],
        });
        let created = target.post(&format!("/sandbox/v1/domains/{id}/clients"), &client.to_string()).await?;
        let created: Value = serde_json::from_slice(&created)?;
        let member = |name: &str| created[name].as_str().map(str::to_owned).with_context(|| name.to_owned());
        Ok(Self {
            target,
            issuer: path_of(&member("issuer")?)?,
            client: member("client_id")?,
            secret: member("client_secret")?,
        })
    }

    /// Logs a user in to an application at this port. Returns the cookies of the browser at the
    /// login origin, and its cookie at the application.
    async fn log_in(&self, port: u16) -> Result<(Cookies, String)> {
        let (target, host) =
            (self.target, format!("x-forwarded-proto: http\r\nx-forwarded-host: localhost:{port}\r\n"));
        let (mut browser, mut application) = (Cookies::default(), Cookies::default());
        let start = format!("/.signpost/start?client={}", self.client);
        let authorize = visit(target.address, &start, &host, &mut application).await?.redirect_path()?;
        let page = visit(target.address, &authorize, "", &mut browser).await?.redirect_path()?;
        visit(target.address, &page, "", &mut browser).await?;
        let session = page.rsplit('/').next().and_then(|rest| rest.split('?').next()).context("a session")?;
        // The first answer by an unknown key turns the page into a registration page.
        for _ in 0..2 {
            target.post(&format!("/sandbox/v1/sessions/{session}/simulate"), r#"{"wallet":1}"#).await?;
        }
        let done = visit(target.address, &page, "", &mut browser).await?.body;
        let link = done.split('<').find(|tag| tag.starts_with("a ") && tag.contains("id=\"continue\""));
        let link = link.and_then(|tag| tag.split_once("href=\"")?.1.split('"').next()).context("a way back")?;
        let back = path_of(&link.replace("&amp;", "&"))?;
        let callback = visit(target.address, &back, "", &mut browser).await?.redirect_path()?;
        visit(target.address, &callback, &host, &mut application).await?;
        let cookie = application.0.get("signpost_app").context("a session of the application")?;
        Ok((browser, format!("cookie: signpost_app={cookie}\r\n")))
    }

    /// Requests an authorization code for the logged-in user.
    async fn code(&self, browser: &mut Cookies) -> Result<String> {
        let query = format!(
            "response_type=code&client_id={}&redirect_uri=http%3A%2F%2Flocalhost%3A9%2Fcb&scope=openid+profile+email&\
             nonce=n&code_challenge={CHALLENGE}&code_challenge_method=S256",
            self.client
        );
        let sent = visit(self.target.address, &format!("{}/authorize?{query}", self.issuer), "", browser).await?;
        let code = sent.location()?.split_once("code=").context("a code")?.1;
        Ok(code.split('&').next().unwrap_or_default().to_owned())
    }

    /// Returns the request that exchanges an authorization code for tokens.
    fn exchange(&self, code: &str) -> Vec<u8> {
        let body = format!(
            "grant_type=authorization_code&code={code}&redirect_uri=http%3A%2F%2Flocalhost%3A9%2Fcb&\
             code_verifier={VERIFIER}&client_id={}&client_secret={}",
            self.client, self.secret
        );
        let request = post(&format!("{}/token", self.issuer), "", &body);
        let request = String::from_utf8(request).expect("UTF-8");
        request.replacen("application/json", "application/x-www-form-urlencoded", 1).into_bytes()
    }
}

async fn tokens(program: &Program, domain: &ClientDomain<'_>, browser: &mut Cookies) -> Result<()> {
    println!("a code for tokens, {CONNECTIONS} connections, each code redeemed once");
    let key =
        PrivateKey::from_pkcs8(SigningAlgorithm::Rs256, generate_pkcs8(SigningAlgorithm::Rs256)?.expose_secret())?;
    let mut raw = Vec::new();
    for _ in 0..ROUNDS {
        raw.push(sign_round(&key)?);
    }
    let mut redeemed = Vec::new();
    for _ in 0..CODE_ROUNDS {
        let mut requests = Vec::with_capacity(CODES);
        for _ in 0..CODES {
            requests.push(domain.exchange(&domain.code(browser).await?));
        }
        redeemed.push(burst(&program.server, requests, CONNECTIONS).await?);
    }
    let (raw, redeemed) = (per_second(raw), Measured::of(&redeemed)?);
    print("RS256 alone, all cores", raw, raw);
    print("POST <issuer>/token", redeemed.rate, raw);
    println!("  {}", redeemed.cpu_time);
    report("token", redeemed.rate / raw, None)
}

/// Signs on all cores for a round. Returns the number of signatures.
fn sign_round(key: &PrivateKey) -> Result<u32> {
    let sign = || {
        let (begun, mut count) = (Instant::now(), 0);
        while begun.elapsed() < ROUND {
            key.sign(&[7; 600])?;
            count += 1;
        }
        Ok(count)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..thread::available_parallelism()?.get()).map(|_| scope.spawn(sign)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    })
}

async fn userinfo(program: &Program, domain: &ClientDomain<'_>, browser: &mut Cookies) -> Result<()> {
    let tokens = send_request(program.target.address, &domain.exchange(&domain.code(browser).await?)).await?;
    let tokens: Value = serde_json::from_slice(&tokens)?;
    let bearer = format!("authorization: Bearer {}\r\n", tokens["access_token"].as_str().context("a token")?);
    let request = get_with(&format!("{}/userinfo", domain.issuer), &bearer);
    let bare = Server::bare("application/json", &send_request(program.target.address, &request).await?)?;
    let variants = [
        Variant { name: "bare handler, the same bytes", server: &bare, request: request.clone() },
        Variant { name: "GET <issuer>/userinfo", server: &program.server, request },
    ];
    println!("claims of a user, {CONNECTIONS} connections");
    compare("userinfo", &variants, CONNECTIONS).await.map(drop)
}

async fn documents(program: &Program, domain: &ClientDomain<'_>) -> Result<()> {
    for (key, name, path) in [
        ("discovery", "GET <issuer>/.well-known/…", "/.well-known/openid-configuration"),
        ("jwks", "GET <issuer>/jwks", "/jwks"),
    ] {
        let request = get_with(&format!("{}{path}", domain.issuer), "");
        let bare = Server::bare("application/json", &send_request(program.target.address, &request).await?)?;
        let variants = [
            Variant { name: "bare handler, the same bytes", server: &bare, request: request.clone() },
            Variant { name, server: &program.server, request },
        ];
        println!("discovery documents, {CONNECTIONS} connections");
        compare(key, &variants, CONNECTIONS).await?;
    }
    Ok(())
}

async fn forward(program: &Program, domain: &ClientDomain<'_>, port: u16, cookie: &str) -> Result<()> {
    let reported = format!(
        "x-forwarded-method: GET\r\nx-forwarded-proto: http\r\nx-forwarded-host: localhost:{port}\r\n\
         x-forwarded-uri: /reports/1?x=y\r\nx-forwarded-for: 127.0.0.1\r\n{cookie}"
    );
    let request = get_with(&format!("/forward/caddy?client={}", domain.client), &reported);
    let body = send_request(program.target.address, &request).await?;
    ensure!(body.is_empty(), "{}", String::from_utf8_lossy(&body));
    let bare = Server::bare("text/plain", &body)?;
    let variants = [
        Variant { name: "bare handler, the same bytes", server: &bare, request: request.clone() },
        Variant { name: "GET /forward/caddy, a yes", server: &program.server, request },
    ];
    println!("the question of forward auth, {CONNECTIONS} connections");
    compare("forward", &variants, CONNECTIONS).await.map(drop)
}

/// Measures the configuration in `deploy/` without TLS, and an equal application without forward
/// authentication.
async fn behind_nginx(program: &Program, domain: &ClientDomain<'_>, port: u16, cookie: &str) -> Result<()> {
    let Some(nginx) = ["/usr/sbin/nginx", "/usr/bin/nginx"].into_iter().find(|path| fs::exists(path).unwrap_or(false))
    else {
        missing("forward_nginx", "nginx (apt-get install nginx)");
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let run = folder.path().display();
    let application = Server::bare("text/plain", b"a page")?;
    let plain = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let temp_paths =
        ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|kind| format!("{kind}_temp_path {run}/{kind};"));
    let without = format!(
        "access_log off; {} server {{ listen 127.0.0.1:{plain}; location / {{ proxy_pass http://{}; }} }}",
        temp_paths.join(" "),
        application.address
    );
    let mut text = fs::read_to_string("deploy/forward-auth/nginx.conf")?;
    for (from, to) in [
        ("http {", &*format!("http {{ {without}")),
        ("listen 443 ssl;", &format!("listen 127.0.0.1:{port};")),
        ("ssl_certificate /etc/ssl/app.example.com.pem;", ""),
        ("ssl_certificate_key /etc/ssl/app.example.com.key;", ""),
        ("server_name app.example.com;", "server_name localhost;"),
        ("127.0.0.1:8000", &application.address.to_string()),
        ("127.0.0.1:8080", &program.target.address.to_string()),
        ("cli_REPLACE_ME", &domain.client),
    ] {
        ensure!(text.contains(from), "deploy/forward-auth/nginx.conf has no {from}");
        text = text.replace(from, to);
    }
    fs::write(folder.path().join("nginx.conf"), text)?;
    let mut command = Command::new(nginx);
    command.args(["-p", &run.to_string(), "-c", &format!("{run}/nginx.conf"), "-e", "stderr"]);
    command.args(["-g", &format!("daemon off; master_process off; pid {run}/pid;")]).stderr(Stdio::null());
    let server = Server::run(&mut command, ([127, 0, 0, 1], port).into())?;
    let applications = [(plain, String::new()), (port, cookie.to_owned())];
    let latencies = [latencies(&server, &applications[0]).await?, latencies(&server, &applications[1]).await?];
    let [without, with] = latencies.map(median);
    println!("through nginx, sequential requests, p50");
    println!("  {without:.3} ms without the question, {with:.3} ms with it");
    report("forward_nginx", with - without, None)
}

/// Returns the latencies of requests at a port, in milliseconds.
async fn latencies(server: &Server, (port, cookie): &(u16, String)) -> Result<Vec<f64>> {
    let address = SocketAddr::from((server.address.ip(), *port));
    let begun = Instant::now();
    let mut connection = loop {
        match TcpStream::connect(address).await {
            Ok(connection) => break connection,
            Err(error) if begun.elapsed() > Duration::from_secs(10) => {
                return Err(error).context("nginx did not start");
            }
            Err(_) => tokio::task::yield_now().await,
        }
    };
    connection.set_nodelay(true)?;
    // nginx closes a connection after a thousand requests.
    let request = format!("GET /reports/1?x=y HTTP/1.1\r\nhost: localhost:{port}\r\n{cookie}\r\n");
    let mut latencies = Vec::with_capacity(NGINX_REQUESTS);
    for _ in 0..NGINX_REQUESTS - 1 {
        let begun = Instant::now();
        let body = exchange(&mut connection, request.as_bytes()).await?;
        latencies.push(begun.elapsed().as_secs_f64() * 1e3);
        ensure!(body == b"a page", "{}", String::from_utf8_lossy(&body));
    }
    Ok(latencies)
}
