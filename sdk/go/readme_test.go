package signpost

import (
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestReadmeSiteCompiles(t *testing.T) {
	readme := string(must(os.ReadFile("README.md")))
	_, site, _ := strings.Cut(readme, "```go\npackage main")
	site, _, found := strings.Cut(site, "\n```\n")
	if said := compile(t, "package main"+site); !found || said != "" {
		t.Error(said)
	}
}

// around is the program around the calls, with the variables that they use.
const around = `package main
import ("context"; "errors"; "log"; "net/http"; "os"; "time"; "signpost")
var (_ = errors.As; _ = log.Print; _ = os.Args; _ = time.Now)
func main() {}
func calls(
	ctx context.Context, request *http.Request, body []byte, sessionID, code, publicKey, signature, message, browserHash, browserSecret string,
	session *signpost.Session, domain *signpost.Domain, user *signpost.HostedUser, credential *signpost.Credential, signIn *signpost.SignIn, event *signpost.Event,
	answer signpost.Answer,
) {
`

func TestReferenceCallsCompile(t *testing.T) {
	page := string(must(os.ReadFile("../../crates/signpost/assets/reference.html")))
	calls := regexp.MustCompile(`(?s)<figcaption>Go</figcaption>\s*<pre><code>(.*?)</code></pre>`).FindAllStringSubmatch(page, -1)
	if len(calls) < 25 {
		t.Fatalf("only %d calls", len(calls))
	}
	source := around
	for at, call := range calls {
		text := html.UnescapeString(regexp.MustCompile("<[^>]+>").ReplaceAllString(call[1], ""))
		if at > 0 { // The first creates the client for the others.
			text = "_ = func() {\n" + text + "\n}"
		}
		source += text + "\n"
	}
	for _, line := range strings.Split(compile(t, source+"}\n"), "\n") {
		if strings.HasPrefix(line, "./") && !strings.Contains(line, "declared and not used") {
			t.Error(line)
		}
	}
}

// compile returns the errors of a program that uses this package.
func compile(t *testing.T, source string) string {
	t.Helper()
	text, _ := inModule(t, "main.go", source, "build", "-gcflags=-e", "-o", os.DevNull, ".").CombinedOutput()
	return string(text)
}

// inModule returns a command of go in a new module with a file, which uses this package.
func inModule(t *testing.T, file, source string, arguments ...string) *exec.Cmd {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, file), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(arguments ...string) *exec.Cmd {
		command := exec.Command("go", arguments...)
		command.Dir = folder
		return command
	}
	for _, prepared := range []*exec.Cmd{
		command("mod", "init", "shop"), command("mod", "edit", "-require", "signpost@v0.1.0", "-replace", "signpost="+must(os.Getwd())),
	} {
		if text, err := prepared.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", prepared, err, text)
		}
	}
	return command(arguments...)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
