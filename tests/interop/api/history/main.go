// Seeded histories: clients write, read, list and watch a few objects while the server is killed and started again. What they have
// seen must be linearizable (porcupine), lists must be snapshots, and watches must tell every change once and in order.
//
//	history [-seed N] [-count N] [-clients N] [-operations N] [-kills N] [-- COMMAND...]
//
// The API is that of KUBE_URL, KUBE_TOKEN and KUBE_CA. The command runs the server; without one the server is already there and nobody
// kills it.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

var (
	seed       = flag.Int64("seed", 1, "of the first history")
	count      = flag.Int("count", 100, "histories")
	clients    = flag.Int("clients", 16, "clients at a time")
	operations = flag.Int("operations", 24, "of each client in a history")
	kills      = flag.Int("kills", 1, "in each history")
)

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "history: "+format+"\n", args...)
	os.Exit(1)
}

// A server is a process that is killed and started, or nothing that we can do anything about.
type server struct {
	command []string
	process *exec.Cmd
	api     *api
}

func (s *server) start() {
	if len(s.command) > 0 {
		s.process = exec.Command(s.command[0], s.command[1:]...)
		s.process.Stderr = os.Stderr
		s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := s.process.Start(); err != nil {
			fail("%v", err)
		}
	}
	for end := time.Now().Add(30 * time.Second); !s.api.isReady(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			fail("the server does not get ready")
		}
	}
}

func (s *server) kill() {
	if s.process == nil {
		return
	}
	s.process.Process.Kill()
	s.process.Wait()
}

func newAPI() *api {
	pool := x509.NewCertPool()
	if ca, err := os.ReadFile(os.Getenv("KUBE_CA")); err == nil {
		pool.AppendCertsFromPEM(ca)
	}
	transport := func() *http.Client {
		return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: 64}}
	}
	a := &api{url: os.Getenv("KUBE_URL"), token: os.Getenv("KUBE_TOKEN"), client: transport(), streams: transport()}
	a.streams.Timeout = 0
	return a
}

func main() {
	flag.Parse()
	s := &server{command: flag.Args(), api: newAPI()}
	s.start()
	defer s.kill()
	bad, ops, lists, events, kept, relists := 0, 0, 0, 0, 0, 0
	for i := range *count {
		h := newHistory(s, *seed+int64(i))
		h.run()
		problems := h.check()
		ops += len(h.operations)
		lists += len(h.lists)
		events += len(h.watchers[0].events)
		kept += h.unknown
		if h.relisted() {
			relists++
		}
		if len(problems) > 0 {
			bad++
			for _, p := range problems {
				fmt.Printf("# seed %d: %s\n", h.seed, p)
			}
		}
	}
	fmt.Printf("# %d histories, %d operations (%d with an unknown outcome), %d lists, %d events, %d times a watch had to list again; %d bad\n", *count, ops, kept, lists, events, relists, bad)
	if bad > 0 || ops == 0 || events == 0 {
		s.kill()
		os.Exit(1)
	}
}

// together runs a function for each number and waits for all.
func together(n int, do func(i int)) {
	var done sync.WaitGroup
	for i := range n {
		done.Add(1)
		go func() {
			defer done.Done()
			do(i)
		}()
	}
	done.Wait()
}
