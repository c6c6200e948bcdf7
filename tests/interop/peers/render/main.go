// Runs `crossplane internal render`, which speaks protobuf, for those who speak JSON.
//
//	render CROSSPLANE <RenderRequest.json >RenderResponse.json
//
// Ends with the status of crossplane: 0, 3 when a function's result is fatal (there is a response then), or 1.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	renderv1alpha1 "github.com/crossplane/crossplane/v2/proto/render/v1alpha1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(1)
	}
}

func main() {
	text, err := io.ReadAll(os.Stdin)
	check(err)
	req := &renderv1alpha1.RenderRequest{}
	check(protojson.Unmarshal(text, req))
	in, err := proto.Marshal(req)
	check(err)

	cmd := exec.Command(os.Args[1], "internal", "render", "--timeout", "20s")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	exit := &exec.ExitError{}
	if err != nil && !errors.As(err, &exit) {
		check(err)
	}
	if err == nil || exit.ExitCode() == 3 {
		rsp := &renderv1alpha1.RenderResponse{}
		check(proto.Unmarshal(out, rsp))
		fmt.Println(protojson.Format(rsp))
	}
	if err != nil {
		os.Exit(exit.ExitCode())
	}
}
