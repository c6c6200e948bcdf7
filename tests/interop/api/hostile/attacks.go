package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const maps = "/api/v1/namespaces/hostile/configmaps"

var attacks = []struct {
	name string
	run  func()
}{
	{"ten thousand idle connections", idleConnections},
	{"lists that nobody reads", unreadLists},
	{"watches that nobody reads", unreadWatches},
	{"watches of one large object that nobody reads", unreadLargeWatches},
	{"requests that arrive a byte at a time", slowRequests},
	{"bodies over the limit", largeBodies},
	{"patches with very many elements", largePatches},
	{"deep JSON and YAML", deepValues},
	{"protobuf that promises more than it has", protobufBombs},
	{"paths with tricks", pathTricks},
	{"floods of headers", headerFloods},
	{"guesses of tokens", tokenGuesses},
	{"five thousand watches of one user", manyWatches},
}

func idleConnections() {
	const wanted = 10000
	connections := make([]net.Conn, 0, wanted)
	refused := 0
	for range wanted {
		c, err := net.DialTimeout("tcp", base.Host, 5*time.Second)
		if err != nil {
			refused++
			continue
		}
		connections = append(connections, c)
	}
	fmt.Printf("# %d connections are open, %d were refused\n", len(connections), refused)
	isServed("while they are open")
	for _, c := range connections {
		c.Close()
	}
}

// unread sends requests on connections of their own and reads nothing of the answers.
func unread(n int, path string) []net.Conn {
	connections := []net.Conn{}
	for range n {
		c, err := dial()
		if err != nil {
			continue
		}
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nAccept: application/json\r\n\r\n", path, token)
		connections = append(connections, c)
	}
	return connections
}

func unreadLists() {
	connections := unread(100, maps)
	for range 20 {
		isServed("while lists are not read")
		time.Sleep(100 * time.Millisecond)
	}
	for _, c := range connections {
		c.Close()
	}
}

func unreadWatches() {
	connections := unread(200, maps+"?watch=true&resourceVersion=0")
	duringWhich(func() {
		for i := range 1000 {
			body := fmt.Sprintf(`{"data":{"n":"%d"}}`, i)
			if code, text := send(client, request("PATCH", fmt.Sprintf("%s/m%d", maps, i%50), "application/merge-patch+json", strings.NewReader(body))); code != 200 {
				wrong("a patch beside unread watches gets %d %s", code, text)
				return
			}
		}
	})
	for _, c := range connections {
		c.Close()
	}
}

// unreadLargeWatches: changes of almost a megabyte for hundreds of watchers that do not read them.
func unreadLargeWatches() {
	create(maps, map[string]any{"metadata": map[string]any{"name": "large"}})
	connections := unread(400, maps+"?watch=true&fieldSelector=metadata.name%3Dlarge")
	large := strings.Repeat("x", 1000000)
	for i := range 4 {
		body := fmt.Sprintf(`{"data":{"n":"%d","text":"%s"}}`, i, large)
		duringWhich(func() {
			if code, text := send(client, request("PATCH", maps+"/large", "application/merge-patch+json", strings.NewReader(body))); code != 200 {
				wrong("a patch beside unread watches gets %d %s", code, text)
			}
		})
		time.Sleep(500 * time.Millisecond)
	}
	for _, c := range connections {
		c.Close()
	}
	send(client, request("DELETE", maps+"/large", "", nil))
}

func slowRequests() {
	connections := []net.Conn{}
	for range 200 {
		if c, err := dial(); err == nil {
			connections = append(connections, c)
			io.WriteString(c, "POST "+maps+" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+token+"\r\nContent-Length: 1000000\r\n\r\n")
		}
	}
	for range 20 {
		for _, c := range connections {
			c.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
			io.WriteString(c, "x")
		}
		isServed("beside slow requests")
		time.Sleep(50 * time.Millisecond)
	}
	for _, c := range connections {
		c.Close()
	}
}

// endless is a body without an end.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = ' '
	}
	e.left -= len(p)
	return len(p), nil
}

// refused: the status is one of those, or the connection was closed before all was sent.
func refused(what string, code int, text string, wanted ...int) {
	for _, w := range wanted {
		if code == w {
			return
		}
	}
	wrong("%s: %d %s, wanted %v", what, code, text, wanted)
}

func largeBodies() {
	for _, size := range []int{3<<20 + 1, 64 << 20} {
		code, text := send(client, request("POST", maps, "application/json", bytes.NewReader(bytes.Repeat([]byte(" "), size))))
		refused(fmt.Sprintf("a body of %d bytes", size), code, text, 413, 0)
	}
	duringWhich(func() {
		var done sync.WaitGroup
		for range 16 {
			done.Add(1)
			go func() {
				defer done.Done()
				code, text := send(newClient(), request("POST", maps, "application/json", &endless{left: 256 << 20}))
				refused("a body without a length", code, text, 413, 0)
			}()
		}
		done.Wait()
	})
}

func largePatches() {
	patch := func(what, contentType, body string, wanted ...int) {
		code, text := send(newClient(), request("PATCH", maps+"/m0", contentType, strings.NewReader(body)))
		refused(what, code, text, wanted...)
	}
	duringWhich(func() {
		operation := `{"op":"test","path":"/kind"},`
		patch("10,001 operations", "application/json-patch+json", "["+strings.Repeat(operation, 10000)+`{"op":"test","path":"/kind"}]`, 413)
		patch("a million numbers", "application/merge-patch+json", `{"data":{"a":[`+strings.Repeat("1,", 1000000)+`1]}}`, 400, 422, 413)
		patch("a million members", "application/merge-patch+json", `{"data":{`+strings.Repeat(`"":1,`, 500000)+`"":1}}`, 400, 422, 413)
		patch("a million empty objects", "application/json-patch+json", "["+strings.Repeat("{},", 1000000)+"{}]", 400, 413, 422)
		patch("a million in an apply", "application/apply-patch+yaml", "a: ["+strings.Repeat("1,", 1000000)+"1]", 400, 413, 422, 500)
		many := `{"op":"copy","from":"/data","path":"/data/a"},`
		patch("copies that double", "application/json-patch+json", "["+strings.Repeat(many, 60)+`{"op":"test","path":"/kind"}]`, 413, 422, 400)
		patch("strategic lists", "application/strategic-merge-patch+json", `{"metadata":{"finalizers":[`+strings.Repeat(`"a.b/c",`, 300000)+`"a.b/c"]}}`, 200, 400, 413, 422)
	})
}

func deepValues() {
	deep := func(open, close, contentType string, n int) {
		text := strings.Repeat(open, n) + strings.Repeat(close, n)
		code, answer := send(newClient(), request("POST", maps, contentType, strings.NewReader(text)))
		refused(fmt.Sprintf("%d times %s", n, open), code, answer, 400, 413, 422)
	}
	duringWhich(func() {
		deep("[", "]", "application/json", 1000000)
		deep(`{"a":`, "}", "application/json", 500000)
		deep("[", "]", "application/yaml", 1000000)
		deep("{a: ", "}", "application/yaml", 300000)
		anchors := "a: &a [x,x,x,x,x,x,x,x,x]\n"
		for i := range 20 {
			anchors += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", 'b'+i, 'b'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i, 'a'+i)
		}
		code, answer := send(newClient(), request("POST", maps, "application/yaml", strings.NewReader(anchors)))
		refused("a billion laughs", code, answer, 400, 413)
	})
}

func protobufBombs() {
	envelope := func(raw []byte) []byte {
		body := append([]byte("k8s\x00"), 0x0a, 0x0f, 0x0a, 0x02, 'v', '1', 0x12, 0x09)
		body = append(body, "ConfigMap"...)
		body = append(body, 0x12)
		body = binary.AppendUvarint(body, uint64(len(raw)))
		return append(body, raw...)
	}
	nested := []byte{}
	for range 2000 {
		nested = append(binary.AppendUvarint([]byte{0x0a}, uint64(len(nested))), nested...)
	}
	huge := append([]byte("k8s\x00"), 0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)
	entries := bytes.Repeat([]byte{0x12, 0x00}, 1000000)
	for _, body := range [][]byte{envelope(nested), huge, envelope(entries), []byte("k8s\x00"), envelope(bytes.Repeat([]byte{0xff}, 1000)), bytes.Repeat([]byte{0x0b}, 100000)} {
		r := request("POST", maps, "application/vnd.kubernetes.protobuf", bytes.NewReader(body))
		code, text := send(client, r)
		refused(fmt.Sprintf("protobuf of %d bytes", len(body)), code, text, 400, 413, 422)
	}
}

func pathTricks() {
	for _, path := range []string{"/api/v1/namespaces/../secrets", "/api/v1/namespaces/%2e%2e/secrets", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/v1/namespaces/a%00b/configmaps", "/api/v1/namespaces/hostile%2fconfigmaps%2fm0", "/" + strings.Repeat("a/", 100000), "/api/v1/%", "/api/v1/%zz", "//api//v1", "/api/v1/namespaces/" + strings.Repeat("n", 60000), "*", "http://other/api/v1/secrets", "/api/v1/secrets?" + strings.Repeat("a=b&", 15000)} {
		for _, who := range []string{nobody, "none"} {
			if code := raw(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", path, who)); code == 200 || code >= 500 && code != 501 {
				wrong("GET %.60s as %s: %d", path, who, code)
			}
		}
	}
}

func headerFloods() {
	start := "GET /healthz HTTP/1.1\r\nHost: x\r\n"
	floods := map[string]string{
		"ten thousand fields":        start + strings.Repeat("X-A: b\r\n", 10000) + "\r\n",
		"a field of 2 MB":            start + "X-A: " + strings.Repeat("b", 2<<20) + "\r\n\r\n",
		"a field without an end":     start + "X-A: " + strings.Repeat("b", 8<<20),
		"two lengths":                start + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
		"a length and chunks":        start + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a chunk of enormous length": "POST " + maps + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
	}
	for name, text := range floods {
		if code := raw(text); code == 200 || code >= 500 && code != 501 {
			wrong("%s: %d", name, code)
		}
	}
}

func tokenGuesses() {
	var other atomic.Int64
	duringWhich(func() {
		var done sync.WaitGroup
		for i := range 16 {
			done.Add(1)
			go func() {
				defer done.Done()
				c := newClient()
				for j := range 200 {
					r := request("GET", "/api/v1/secrets", "", nil)
					r.Header.Set("Authorization", fmt.Sprintf("Bearer %s%d", strings.Repeat("a", j*50), i))
					if code, _ := send(c, r); code != 401 && code != 431 && code != 429 {
						other.Store(int64(code))
					}
				}
			}()
		}
		done.Wait()
	})
	if code := other.Load(); code != 0 {
		wrong("a guess is answered with %d", code)
	}
}

// manyWatches: more than a user may have are refused with 429; another user is served.
func manyWatches() {
	const wanted = 5000
	codes := map[int]int{}
	var bodies []io.Closer
	c := newClient()
	c.Timeout = 0
	for range wanted {
		r := request("GET", maps+"?watch=true&fieldSelector=metadata.name%3Dm0&resourceVersion=0", "", nil)
		response, err := c.Do(r)
		if err != nil {
			codes[0]++
			continue
		}
		codes[response.StatusCode]++
		if response.StatusCode == 200 {
			bodies = append(bodies, response.Body)
			continue
		}
		if response.StatusCode == http.StatusTooManyRequests && response.Header.Get("Retry-After") == "" {
			wrong("429 without Retry-After")
		}
		response.Body.Close()
	}
	fmt.Printf("# answers to %d watches: %v\n", wanted, codes)
	if codes[200]+codes[429] != wanted || codes[429] == 0 {
		wrong("watches are answered with %v", codes)
	}
	r := request("GET", "/api", "", nil)
	r.Header.Set("Authorization", "Bearer "+nobody)
	if code, text := send(newClient(), r); code != 200 {
		wrong("another user gets %d %s", code, text)
	}
	for _, b := range bodies {
		b.Close()
	}
	c.CloseIdleConnections()
}
