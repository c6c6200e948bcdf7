// Hostile clients of the API server: each attack must be refused with a clear status or come to nothing, the server's memory must stay bounded, and
// others must be served meanwhile.
//
//	hostile PID [ATTACK]    PID is that of the server of KUBE_URL, KUBE_TOKEN, KUBE_NOBODY and KUBE_CA; ATTACK is part of a name
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// memoryBound is what the server may have resident under any attack, in KiB: its budget for requests and answers, its objects and itself.
const memoryBound = 512 << 10

// patience is how long others may have to wait.
const patience = 2 * time.Second

var (
	base     *url.URL
	token    = os.Getenv("KUBE_TOKEN")
	nobody   = os.Getenv("KUBE_NOBODY")
	pid      string
	config   *tls.Config
	client   *http.Client
	problems []string
	mutex    sync.Mutex
)

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "hostile: "+format+"\n", args...)
	os.Exit(2)
}

func wrong(format string, args ...any) {
	mutex.Lock()
	defer mutex.Unlock()
	problems = append(problems, fmt.Sprintf(format, args...))
}

func main() {
	if len(os.Args) < 2 {
		fail("usage: hostile PID [ATTACK]")
	}
	pid = os.Args[1]
	var err error
	if base, err = url.Parse(os.Getenv("KUBE_URL")); err != nil {
		fail("%v", err)
	}
	ca, err := os.ReadFile(os.Getenv("KUBE_CA"))
	if err != nil {
		fail("%v", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	config = &tls.Config{RootCAs: pool}
	client = newClient()
	prepare()
	failed := 0
	for i, attack := range attacks {
		if len(os.Args) > 2 && !strings.Contains(attack.name, os.Args[2]) {
			continue
		}
		problems = nil
		most := watchMemory()
		attack.run()
		isServed(attack.name)
		if peak := most(); peak > memoryBound {
			wrong("the server takes %d MiB", peak>>10)
		} else {
			fmt.Printf("# %s: at most %d MiB\n", attack.name, peak>>10)
		}
		word := "ok"
		if len(problems) > 0 {
			word = "not ok"
			failed++
			for _, p := range problems {
				fmt.Printf("# %s\n", p)
			}
		}
		fmt.Printf("%s %d - %s\n", word, i+1, attack.name)
	}
	fmt.Printf("1..%d\n", len(attacks))
	if failed > 0 {
		os.Exit(1)
	}
}

func newClient() *http.Client {
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: config, MaxIdleConnsPerHost: 16}}
}

// resident is the server's memory in KiB.
func resident() int {
	raw, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		fail("the server has died: %v", err)
	}
	for _, line := range strings.Split(string(raw), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmRSS:" {
			n, _ := strconv.Atoi(fields[1])
			return n
		}
	}
	fail("the server has died")
	return 0
}

// watchMemory returns a function that ends the watch and gives the most that was seen.
func watchMemory() func() int {
	var most atomic.Int64
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			most.Store(max(most.Load(), int64(resident())))
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() int {
		close(stop)
		<-done
		return int(most.Load())
	}
}

func request(method, path, contentType string, body io.Reader) *http.Request {
	r, err := http.NewRequest(method, base.String()+path, body)
	if err != nil {
		fail("%v", err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", contentType)
	return r
}

// send returns the status, 0 without an answer, and the reason in a Status.
func send(c *http.Client, r *http.Request) (int, string) {
	response, err := c.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	raw, _ := io.ReadAll(response.Body)
	var status struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
	}
	json.Unmarshal(raw, &status)
	return response.StatusCode, status.Reason + " " + status.Message
}

// isServed: somebody else gets an answer in good time.
func isServed(after string) {
	start := time.Now()
	other := newClient()
	other.Timeout = 10 * time.Second
	defer other.CloseIdleConnections()
	code, text := send(other, request("GET", "/api/v1/namespaces/default", "", nil))
	if code != 200 || time.Since(start) > patience {
		wrong("others get %d %s after %v", code, text, time.Since(start))
	}
}

// duringWhich asks for others until the attack ends.
func duringWhich(attack func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		attack()
	}()
	for {
		select {
		case <-done:
			return
		case <-time.After(100 * time.Millisecond):
			isServed("")
		}
	}
}

// dial opens a connection for requests of HTTP/1.1 that no library would send.
func dial() (net.Conn, error) {
	plain := config.Clone()
	plain.NextProtos = []string{"http/1.1"}
	d := &net.Dialer{Timeout: 10 * time.Second}
	return tls.DialWithDialer(d, "tcp", base.Host, plain)
}

// raw sends bytes and gives the status of the answer, 0 if the connection was closed instead.
func raw(text string) int {
	c, err := dial()
	if err != nil {
		return 0
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	go io.WriteString(c, text)
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

func create(path string, object any) {
	body, _ := json.Marshal(object)
	if code, text := send(client, request("POST", path, "application/json", bytes.NewReader(body))); code != 201 && code != 409 {
		fail("cannot create in %s: %d %s", path, code, text)
	}
}

// prepare makes a namespace with a list of some 20 MB.
func prepare() {
	create("/api/v1/namespaces", map[string]any{"metadata": map[string]any{"name": "hostile"}})
	text := strings.Repeat("x", 20000)
	for i := range 1000 {
		create("/api/v1/namespaces/hostile/configmaps", map[string]any{"metadata": map[string]any{"name": fmt.Sprintf("m%d", i)}, "data": map[string]any{"text": text}})
	}
}
