package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
)

type api struct {
	url, token      string
	client, streams *http.Client
}

// An object is a ConfigMap, of which only a value and the version matter.
type object struct {
	name    string
	value   string
	version int64
}

type wire struct {
	Metadata struct {
		Name            string            `json:"name"`
		ResourceVersion string            `json:"resourceVersion"`
		Annotations     map[string]string `json:"annotations"`
	} `json:"metadata"`
	Data    map[string]string `json:"data"`
	Items   []wire            `json:"items"`
	Reason  string            `json:"reason"`
	Message string            `json:"message"`
	Code    int               `json:"code"`
}

func (w *wire) object() object {
	version, _ := strconv.ParseInt(w.Metadata.ResourceVersion, 10, 64)
	return object{name: w.Metadata.Name, value: w.Data["value"], version: version}
}

func (a *api) request(method, path, contentType string, body any) *http.Request {
	raw := []byte(nil)
	if body != nil {
		raw, _ = json.Marshal(body)
	}
	request, err := http.NewRequest(method, a.url+path, bytes.NewReader(raw))
	if err != nil {
		fail("%v", err)
	}
	request.Header.Set("Authorization", "Bearer "+a.token)
	request.Header.Set("Accept", "application/json")
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	return request
}

// call returns status 0 if no answer came, so that the outcome is unknown.
func (a *api) call(method, path, contentType string, body any) (int, wire) {
	var w wire
	response, err := a.client.Do(a.request(method, path, contentType, body))
	if err != nil {
		return 0, w
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil || json.Unmarshal(raw, &w) != nil {
		return 0, wire{}
	}
	return response.StatusCode, w
}

func (a *api) isReady() bool {
	response, err := a.client.Do(a.request("GET", "/readyz", "", nil))
	if err != nil {
		return false
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
	return response.StatusCode == 200
}

func configMap(name, value string, version int64) map[string]any {
	metadata := map[string]any{"name": name, "labels": map[string]any{"of": "history"}}
	if version > 0 {
		metadata["resourceVersion"] = strconv.FormatInt(version, 10)
	}
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": map[string]any{"value": value}}
}
