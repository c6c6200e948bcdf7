// A server of net/http for our HTTP client: plain text (HTTP/1.1, and HTTP/2 with prior knowledge), TLS with HTTP/2 and HTTP/1.1, TLS
// with HTTP/1.1 alone, and TLS that asks for a certificate. Writes certificates into the directory, prints the four URLs, and ends
// when its standard input does.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func write(dir, name, kind string, der []byte) {
	b := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
		log.Fatal(err)
	}
}

func certificates(dir string) (tls.Certificate, *x509.CertPool) {
	caKey := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	caDER := must(x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey))
	write(dir, "ca.crt", "CERTIFICATE", caDER)
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "someone"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der := must(x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey))
	write(dir, "tls.crt", "CERTIFICATE", der)
	write(dir, "tls.key", "PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(key)))
	pool := x509.NewCertPool()
	pool.AddCert(must(x509.ParseCertificate(caDER)))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func number(r *http.Request, name string) int {
	n, _ := strconv.Atoi(r.URL.Query().Get(name))
	return n
}

func handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/proto", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto, " ", r.RemoteAddr) })
	mux.HandleFunc("/fields", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %d %v %s", r.Method, r.Host, r.ContentLength, r.TransferEncoding, r.Header.Get("X-Test"))
	})
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		io.Copy(w, r.Body)
	})
	mux.HandleFunc("/count", func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n, " ", err)
	})
	mux.HandleFunc("/refuse", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusForbidden) })
	mux.HandleFunc("/bytes", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("length") {
			w.Header().Set("Content-Length", r.URL.Query().Get("n"))
		}
		io.CopyN(w, zeros{}, int64(number(r, "n")))
	})
	mux.HandleFunc("/pieces", func(w http.ResponseWriter, r *http.Request) {
		for i := range 5 {
			fmt.Fprint(w, i)
			w.(http.Flusher).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	})
	mux.HandleFunc("/trailers", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		fmt.Fprint(w, "body")
		w.(http.Flusher).Flush()
		w.Header().Set("X-Sum", "42")
	})
	mux.HandleFunc("/hints", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</x>")
		w.WriteHeader(http.StatusEarlyHints)
		fmt.Fprint(w, "hinted")
	})
	mux.HandleFunc("/close", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		fmt.Fprint(w, "closed")
	})
	mux.HandleFunc("/short", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "short")
	})
	mux.HandleFunc("/abort", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "begun")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/proto", http.StatusFound) })
	mux.HandleFunc("/hang", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/watch", func(w http.ResponseWriter, r *http.Request) {
		for i := 0; r.Context().Err() == nil; i++ {
			fmt.Fprintln(w, "event", i)
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	})
	mux.HandleFunc("/who", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.TLS.PeerCertificates[0].Subject.CommonName)
	})
	return mux
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func serve(scheme string, config *tls.Config, protocols func(p *http.Protocols)) string {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	s := &http.Server{Handler: handler(), TLSConfig: config, Protocols: new(http.Protocols), ErrorLog: log.New(io.Discard, "", 0)}
	s.Protocols.SetHTTP1(true)
	protocols(s.Protocols)
	if config == nil {
		go s.Serve(l)
	} else {
		go s.ServeTLS(l, "", "")
	}
	return scheme + "://" + l.Addr().String()
}

func main() {
	certificate, pool := certificates(os.Args[1])
	config := func() *tls.Config { return &tls.Config{Certificates: []tls.Certificate{certificate}} }
	mutual := config()
	mutual.ClientCAs = pool
	mutual.ClientAuth = tls.RequireAndVerifyClientCert
	fmt.Println(serve("http", nil, func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }),
		serve("https", config(), func(p *http.Protocols) { p.SetHTTP2(true) }),
		serve("https", config(), func(p *http.Protocols) {}),
		serve("https", mutual, func(p *http.Protocols) { p.SetHTTP2(true) }))
	io.Copy(io.Discard, os.Stdin)
}
