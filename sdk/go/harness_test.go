package signpost

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// server is the built program, started once for all tests.
type server struct {
	program, data, sandbox, mcp string
	key                         string
}

var startServer = sync.OnceValues(func() (*server, error) {
	s := &server{program: os.Getenv("SIGNPOST")}
	folder, err := os.MkdirTemp("", "signpost-go-")
	if err != nil {
		return nil, err
	}
	atEnd = append(atEnd, func() { _ = os.RemoveAll(folder) })
	s.data = filepath.Join(folder, "data")
	command := exec.Command(s.program, "serve", "--json", "--listen", "127.0.0.1:0", "--data-dir", s.data)
	line, err := start(command)
	if err != nil {
		return nil, err
	}
	atEnd = append(atEnd, func() { stop(command) })
	var said struct{ Sandbox, MCP string }
	if err := json.Unmarshal(line, &said); err != nil {
		return nil, err
	}
	s.sandbox, s.mcp = strings.Replace(said.Sandbox, "127.0.0.1", "localhost", 1), said.MCP
	key, err := exec.Command(s.program, "keys", "create", "--environment", "sandbox", "--name", "go", "--data-dir", s.data).Output()
	s.key = strings.TrimSpace(string(key))
	return s, err
})

var atEnd []func()

func TestMain(m *testing.M) {
	code := m.Run()
	for at := range atEnd {
		atEnd[len(atEnd)-1-at]()
	}
	os.Exit(code)
}

// realServer skips the test if the program is not built; test.sh requires it.
func realServer(t *testing.T) (*server, *Client) {
	t.Helper()
	if os.Getenv("SIGNPOST") == "" {
		t.Skip("SIGNPOST is not set: the path of the built program")
	}
	s, err := startServer()
	if err != nil {
		t.Fatal(err)
	}
	return s, New(s.key, WithBaseURL(s.sandbox))
}

// start starts a program, and returns its first line of output.
func start(command *exec.Cmd) ([]byte, error) {
	log := &bytes.Buffer{}
	command.Stderr = log
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil {
		_ = command.Wait()
		err = fmt.Errorf("%s: %w: %s", command, err, log)
	}
	return line, err
}

func stop(command *exec.Cmd) {
	_ = command.Process.Signal(syscall.SIGTERM)
	_ = command.Wait()
}

// freePort returns an unused port.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

// example starts a program of the folder examples until the test ends, and returns its address.
func example(t *testing.T, name string, environment ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), name)
	if text, err := exec.Command("go", "build", "-o", program, "./examples/"+name).CombinedOutput(); err != nil {
		t.Fatal(err, string(text))
	}
	port := freePort(t)
	command := exec.Command(program)
	command.Env = append([]string{"PORT=" + port}, environment...)
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
	})
	address := "http://localhost:" + port
	for {
		connection, err := net.DialTimeout("tcp", "localhost:"+port, time.Second)
		if err == nil {
			connection.Close()
			return address
		}
		select {
		case <-ended:
			t.Fatal("it ended")
		case <-t.Context().Done():
			t.Fatal(err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// browser navigates like a user's browser.
type browser struct {
	t      *testing.T
	client *http.Client
}

func newBrowser(t *testing.T) *browser {
	jar, _ := cookiejar.New(nil)
	return &browser{t, &http.Client{Jar: jar}}
}

// open returns the text of a page, and its final address.
func (b *browser) open(address string) (text, at string) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Accept", "text/html")
	request.Header.Set("Sec-Fetch-Mode", "navigate")
	request.Header.Set("Sec-Fetch-Dest", "document")
	response, err := b.client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	// net/http reports this type for a page that is plain text; its markup would be shown.
	if kind := response.Header.Get("Content-Type"); strings.HasPrefix(kind, "text/plain") {
		b.t.Errorf("%s is %s", address, kind)
	}
	return string(body), response.Request.URL.String()
}

// find returns the first match of an expression in a page.
func (b *browser) find(page, expression string) string {
	b.t.Helper()
	found := regexp.MustCompile(expression).FindStringSubmatch(page)
	if found == nil {
		b.t.Fatalf("no %s on\n%s", expression, page)
	}
	return html.UnescapeString(found[1])
}

const continueLink = `<a [^>]*id="continue"[^>]*href="([^"]*)"|<a [^>]*href="([^"]*)"[^>]*id="continue"`
