package signpost

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

// readVectors reads a file of the vectors that all SDKs share.
func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("../../vectors/" + name)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// generic converts a value to its JSON form.
func generic(t *testing.T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var read any
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

func mustEqual(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\n got %v\nwant %v", what, got, want)
	}
}

// contains reports whether whole contains all members of part.
func contains(whole, part any) bool {
	members, ok := part.(map[string]any)
	if !ok {
		return reflect.DeepEqual(whole, part)
	}
	found, ok := whole.(map[string]any)
	for name, value := range members {
		if !ok || !contains(found[name], value) {
			return false
		}
	}
	return ok
}
