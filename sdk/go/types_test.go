package signpost

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// schema is the part of JSON Schema that the interface uses.
type schema struct {
	Ref                  string `json:"$ref"`
	Type                 any
	Format               string
	Properties           map[string]*schema
	Required             []string
	Items                *schema
	AllOf                []*schema
	AnyOf                []*schema
	OneOf                []*schema
	AdditionalProperties any
}

// comparison collects the differences between types and schemas.
type comparison struct {
	schemas map[string]*schema
	// Whether a type may have additional members.
	isOpen bool
	seen   map[string]bool
	wrong  []string
}

// resolve merges a schema with its references.
func (c *comparison) resolve(s *schema) *schema {
	whole := *s
	whole.Properties = map[string]*schema{}
	add := func(part *schema) {
		for name, property := range part.Properties {
			whole.Properties[name] = property
		}
		whole.Required = append(whole.Required, part.Required...)
		if whole.Type == nil {
			whole.Type = part.Type
		}
		if whole.Format == "" {
			whole.Format = part.Format
		}
		if whole.Items == nil {
			whole.Items = part.Items
		}
		if whole.AdditionalProperties == nil {
			whole.AdditionalProperties = part.AdditionalProperties
		}
	}
	whole.Required = nil
	add(&schema{Properties: s.Properties, Required: s.Required})
	for _, part := range s.AllOf {
		add(c.resolve(part))
	}
	for _, part := range slices.Concat(s.AnyOf, s.OneOf[:min(len(s.OneOf), 1)]) {
		if part.Type != "null" {
			add(c.resolve(part))
		}
	}
	if s.Ref != "" {
		add(c.resolve(c.schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]))
	}
	return &whole
}

func (c *comparison) differ(where, format string, values ...any) {
	c.wrong = append(c.wrong, where+": "+fmt.Sprintf(format, values...))
}

// member is a JSON member of a field.
type member struct {
	kind     reflect.Type
	optional bool
	promoted bool
}

func members(kind reflect.Type, promoted bool) map[string]member {
	all := map[string]member{}
	for field := range fields(kind) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			embedded := field.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			for name, member := range members(embedded, true) {
				if _, ok := all[name]; !ok {
					all[name] = member
				}
			}
		case name != "-" && name != "":
			all[name] = member{field.Type, options != "", promoted}
		}
	}
	return all
}

func fields(kind reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for at := range kind.NumField() {
			if !yield(kind.Field(at)) {
				return
			}
		}
	}
}

func (c *comparison) compare(where string, s *schema, kind reflect.Type) {
	s = c.resolve(s)
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	isNullable := slices.ContainsFunc(s.OneOf, func(part *schema) bool { return part.Type == "null" })
	if types, ok := s.Type.([]any); ok {
		isNullable = slices.Contains(types, any("null"))
		s.Type = types[0]
	}
	if strings.HasPrefix(kind.Name(), "Nullable[") {
		if !isNullable {
			c.differ(where, "null is not possible")
		}
		kind = kind.Field(0).Type.Elem()
	}
	want := map[any]string{"string": "string", "integer": "int int64", "number": "float64", "boolean": "bool", "array": "slice", "object": "struct map", nil: "struct"}[s.Type]
	if s.Format == "date-time" {
		want = "time.Time"
	}
	if got := kind.Kind().String(); kind == reflect.TypeFor[time.Time]() && want != "time.Time" || kind != reflect.TypeFor[time.Time]() && !slices.Contains(strings.Fields(want), got) {
		c.differ(where, "%v is no %s", kind, want)
		return
	}
	switch kind.Kind() {
	case reflect.Slice:
		if s.Items != nil {
			c.compare(where+"[]", s.Items, kind.Elem())
		}
	case reflect.Struct:
		if kind != reflect.TypeFor[time.Time]() {
			c.compareMembers(where, s, kind)
		}
	}
}

func (c *comparison) compareMembers(where string, s *schema, kind reflect.Type) {
	if c.seen[where+kind.Name()] {
		return
	}
	c.seen[where+kind.Name()] = true
	got := members(kind, false)
	for name, property := range s.Properties {
		member, ok := got[name]
		if !ok {
			c.differ(where, "%v has no %s", kind, name)
			continue
		}
		// A member that the embedded type omits may be required in the outer type, whose tag decides.
		isSaid := !(c.isOpen && s.Required == nil)
		if isRequired := slices.Contains(s.Required, name); isSaid && isRequired == member.optional && !(isRequired && member.promoted) && name != laterMember {
			c.differ(where, "%v.%s: required is %t, and so is omitempty", kind, name, isRequired)
		}
		c.compare(where+"."+name, property, member.kind)
	}
	for name := range got {
		if s.Properties[name] == nil && !c.isOpen {
			c.differ(where, "%v has %s, which the interface does not know", kind, name)
		}
	}
}

// laterMember is required by the interface, and optional here, because earlier versions of the service do not send it.
const laterMember = "domain_id"

func TestTypesMatchTheAPI(t *testing.T) {
	var document struct {
		Components struct{ Schemas map[string]*schema }
	}
	readDocument(t, &document)
	types := map[string]any{
		"NewSession": SessionParams{}, "Requester": Requester{}, "Completion": Completion{}, "Simulated": SimulateParams{},
		"Signed": VerifyParams{}, "NewDomain": DomainParams{}, "DomainChange": DomainChange{}, "NewUser": UserParams{}, "UserChange": UserChange{},
		"SignIn": SignIn{}, "SignInList": SignInList{}, "Answer": Answer{},
		"RefreshedSession": RefreshedSession{}, "CreatedSession": CreatedSession{}, "Session": Session{}, "Device": Device{},
		"SessionList": SessionList{}, "Simulation": Simulation{}, "Verification": Verification{}, "ListedDomain": ListedDomain{},
		"DomainList": DomainList{}, "Domain": Domain{}, "RegisteredDomain": RegisteredDomain{}, "ProvedDomain": ProvedDomain{},
		"UserList": UserList{}, "HostedUser": HostedUser{}, "Credential": Credential{}, "Delivery": Delivery{}, "DeliveryList": DeliveryList{},
		"NewClient": OIDCClientParams{}, "Client": OIDCClient{}, "ClientWithSecret": OIDCClientWithSecret{}, "ClientChange": OIDCClientChange{},
		"ClientList": OIDCClientList{}, "ClientRotation": OIDCClientRotation{}, "Submission": ATMSubmission{}, "ImportOutcome": ImportOutcome{},
		"NewReport": ATMReportParams{}, "MachineReport": ATMReport{}, "Retried": Retried{}, "Event": Event{}, "EventData": EventData{},
		"UserEventData": UserEventData{},
	}
	// Schemas without a call in this package: texts, errors, messages of wallets, and calls of the command line.
	others := []string{"Account", "TestEventRequest", "SignedEvent", "SignedEventList", "UserMetadata", "Metadata", "Error", "ErrorDetails", "ProofCheck", "WalletError", "Context", "Taken"}
	c := &comparison{schemas: document.Components.Schemas, seen: map[string]bool{}}
	for name, s := range c.schemas {
		isObject := s.Type == "object" || s.AllOf != nil
		switch value, ok := types[name]; {
		case ok:
			c.compare(name, s, reflect.TypeOf(value))
		case isObject && !slices.Contains(others, name):
			c.differ(name, "no type")
		}
		delete(types, name)
	}
	for name := range types {
		c.differ(name, "the interface has no such schema")
	}
	for _, wrong := range c.wrong {
		t.Error(wrong)
	}
	if len(c.seen) < 40 {
		t.Errorf("only %d objects were compared", len(c.seen))
	}
}

func TestLocatorTypesMatchTheTools(t *testing.T) {
	s, _ := realServer(t)
	request := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	response, err := http.Post(s.mcp, "application/json", request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var said struct {
		Result struct {
			Tools []struct {
				Name                      string
				InputSchema, OutputSchema *schema
			}
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&said); err != nil {
		t.Fatal(err)
	}
	types := map[string][2]any{
		"find_nearest_bitcoin_atm": {NearestParams{}, NearestATMs{}}, "check_atm_status": {StatusParams{}, ATMStatus{}},
		"list_atms_by_city": {CityParams{}, CityATMs{}}, "get_atm_details": {nil, ATMDetails{}},
	}
	for _, tool := range said.Result.Tools {
		in, out := types[tool.Name][0], types[tool.Name][1]
		if out == nil {
			t.Error("no method for", tool.Name)
			continue
		}
		if in != nil {
			c := &comparison{seen: map[string]bool{}}
			// Both or neither: Position is a single pointer.
			tool.InputSchema.Required = append(tool.InputSchema.Required, "lat", "lon")
			c.compare(tool.Name, tool.InputSchema, reflect.TypeOf(in))
			for _, wrong := range c.wrong {
				t.Error(wrong)
			}
		}
		c := &comparison{seen: map[string]bool{}}
		own := members(reflect.TypeOf(out), false)
		if tool.Name == "get_atm_details" {
			// The schema is for the details of one ATM and of several, so it requires no member.
			for _, several := range []string{"atms", "notFound"} {
				if tool.OutputSchema.Properties[several] == nil {
					t.Error("the details of several ATMs have no", several)
				}
				delete(tool.OutputSchema.Properties, several)
			}
			tool.OutputSchema.Required = strings.Fields("id name status statusReason freshness address lat lon sources attribution")
		}
		for name := range own {
			if tool.OutputSchema.Properties[name] == nil {
				c.differ(tool.Name, "%s is not in its outputSchema", name)
			}
		}
		c.isOpen = true // The schemas of places, advisories and sources do not list all members.
		c.compare(tool.Name, tool.OutputSchema, reflect.TypeOf(out))
		for _, wrong := range c.wrong {
			t.Error(wrong)
		}
	}
}
