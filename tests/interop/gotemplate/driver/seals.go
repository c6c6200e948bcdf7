package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"text/template"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// A sealCase has a template whose result is random, and the name of the check that both sides' results must pass.
type sealCase struct {
	Template string `json:"template"`
	Seal     string `json:"seal"`
}

const chain = `{{$c.Cert}}|{{$c.Key}}|{{$ca.Cert}}`

var sealCases = []sealCase{
	{`{{bcrypt "secret é"}}`, "bcrypt"},
	{`{{htpasswd "user" "secret é"}}`, "htpasswd"},
	{`{{encryptAES "key" "secret é"}}`, "aes"},
	{`{{encryptAES "key" "sixteen bytes ok"}}`, "aes"},
	{`{{genPrivateKey "rsa"}}`, "RSA PRIVATE KEY"},
	{`{{genPrivateKey "dsa"}}`, "DSA PRIVATE KEY"},
	{`{{genPrivateKey "ecdsa"}}`, "EC PRIVATE KEY"},
	{`{{genPrivateKey "ed25519"}}`, "PRIVATE KEY"},
	{`{{$ca := genCA "my ca" 365}}{{$c := genSignedCert "foo.example" (list "10.0.0.1" "::1") (list "foo.example" "bar.example") 30 $ca}}` + chain, "chain"},
	{`{{$ca := genCAWithKey "my ca" 365 (genPrivateKey "ecdsa")}}{{$c := genSignedCertWithKey "foo.example" (list "10.0.0.1" "::1") (list "foo.example" "bar.example") 30 $ca (genPrivateKey "ed25519")}}` + chain, "chain"},
	{`{{$ca := genCAWithKey "é ca" 36500 (genPrivateKey "ed25519")}}{{$c := genSignedCertWithKey "" (list "::ffff:10.0.0.1" "::1") (list "foo.example" "bar.example") 30 $ca (genPrivateKey "ecdsa")}}` + chain, "chain"},
	{`{{$c := genSelfSignedCert "foo.example" (list "10.0.0.1" "::1") (list "foo.example" "bar.example") 30}}{{$ca := $c}}` + chain, "chain"},
	{`{{$a := genCA "a" 10}}{{$ca := buildCustomCert (b64enc $a.Cert) (b64enc $a.Key)}}{{$c := genSignedCert "foo.example" (list "10.0.0.1" "::1") (list "foo.example" "bar.example") 3 $ca}}` + chain, "chain"},
	{`{{randAlpha 40}}`, "letters"}, {`{{randNumeric 40}}`, "digits"}, {`{{randAlphaNum 40}}`, "alphanumerics"}, {`{{randAscii 40}}`, "printable"},
	{`{{uuidv4}}`, "uuid"},
}

func genSeals(_ int64, _ int, _ string, emit func(any)) error {
	for _, c := range sealCases {
		emit(c)
	}
	return nil
}

func runSeals(line []byte) answer {
	var c sealCase
	fail(json.Unmarshal(line, &c))
	return execute(templateCase{Template: c.Template}, sprigFunctions())
}

// A description of the certificates that is equal for both sides, made after the chain and the key have been verified.
func describeChain(out string) (string, error) {
	parts := strings.Split(out, "|")
	if len(parts) != 3 {
		return "", fmt.Errorf("not three PEM blocks")
	}
	pair, err := tls.X509KeyPair([]byte(parts[0]), []byte(parts[1]))
	if err != nil {
		return "", err
	}
	block, _ := pem.Decode([]byte(parts[2]))
	ca, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return "", err
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return "", err
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	for _, name := range []string{"foo.example", "bar.example", "10.0.0.1", "::1"} {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name}); err != nil {
			return "", err
		}
	}
	text := ""
	for _, c := range []*x509.Certificate{leaf, ca} {
		if c.SerialNumber.BitLen() < 64 || time.Since(c.NotBefore) > time.Hour {
			return "", fmt.Errorf("serial %v from %v", c.SerialNumber, c.NotBefore)
		}
		key, _ := pem.Decode([]byte(parts[1]))
		text += fmt.Sprintf("%v %v %v %v %v %v %v %v %v %v %v %v %v %s\n", c.Version, c.Subject, c.RawSubject, c.Issuer, c.RawIssuer, c.NotAfter.Sub(c.NotBefore), c.KeyUsage, c.ExtKeyUsage,
			c.IsCA, c.BasicConstraintsValid, c.DNSNames, c.IPAddresses, c.SignatureAlgorithm, key.Type)
		text += fmt.Sprintf("%v %v %v\n", c.MaxPathLen, len(c.SubjectKeyId), len(c.AuthorityKeyId))
		for _, e := range c.Extensions {
			text += fmt.Sprintf("%v %v %d\n", e.Id, e.Critical, len(e.Value))
		}
	}
	return text, nil
}

func describeKey(out, kind string) (string, error) {
	block, rest := pem.Decode([]byte(out))
	if block == nil || block.Type != kind || len(rest) > 0 {
		return "", fmt.Errorf("no %s", kind)
	}
	if kind == "DSA PRIVATE KEY" { // Go reads it for no certificate; its public key is asked of sprig
		a := execute(templateCase{Template: `{{genCAWithKey "x" 1 key}}`}, sprigFunctions(), template.FuncMap{"key": func() string { return out }})
		if !strings.Contains(a.Err, "does not implement crypto.Signer") {
			return "", fmt.Errorf("%s", a.Err)
		}
		return kind, nil
	}
	a := execute(templateCase{Template: `{{(genCAWithKey "x" 1 key).Key}}`}, sprigFunctions(), template.FuncMap{"key": func() string { return out }})
	if a.Err != "" || a.Out != out {
		return "", fmt.Errorf("the key is not written the same again: %s", a.Err)
	}
	return kind, nil
}

func made(out, alphabet string, length int) (string, error) {
	if len(out) != length || strings.Trim(out, alphabet) != "" {
		return "", fmt.Errorf("%q is not %d of %s", out, length, alphabet)
	}
	return alphabet, nil
}

func describeSeal(seal, out string) (string, error) {
	letters, digits := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "0123456789"
	switch seal {
	case "htpasswd":
		out = strings.TrimPrefix(out, "user:")
		fallthrough
	case "bcrypt":
		cost, _ := bcrypt.Cost([]byte(out))
		return fmt.Sprint(out[:7], cost, len(out)), bcrypt.CompareHashAndPassword([]byte(out), []byte("secret é"))
	case "aes":
		a := execute(templateCase{Template: `{{decryptAES "key" sealed}}`}, sprigFunctions(), template.FuncMap{"sealed": func() string { return out }})
		return fmt.Sprint(a, len(out)), nil
	case "chain":
		return describeChain(out)
	case "letters":
		return made(out, letters, 40)
	case "digits":
		return made(out, digits, 40)
	case "alphanumerics":
		return made(out, letters+digits, 40)
	case "printable":
		return made(out, letters+digits+" !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", 40)
	case "uuid":
		if len(out) != 36 || out[14] != '4' || !strings.Contains("89ab", out[19:20]) {
			return "", fmt.Errorf("%q is no random UUID", out)
		}
		return made(out, digits+"abcdef-", 36)
	}
	return describeKey(out, seal)
}

// sealsHold says whether both answers pass the check of the case and say the same.
func sealsHold(line []byte, want, got answer) bool {
	var c sealCase
	fail(json.Unmarshal(line, &c))
	if c.Seal == "" || want.Err != "" || got.Err != "" {
		return false
	}
	w, err := describeSeal(c.Seal, want.Out)
	fail(err)
	g, err := describeSeal(c.Seal, got.Out)
	if err != nil || w != g {
		fmt.Printf("# seal %s: %v\n# want %s\n#  got %s\n", c.Seal, err, w, g)
	}
	return err == nil && w == g
}
