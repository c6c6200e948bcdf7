#include "test.h"

#include "buf.h"
#include "json.h"
#include "schema.h"

/* The schema, and what is wrong with it: `field: text` on lines of their own, sorted; the fields begin with `s`. Every text is what
 * kube-apiserver's own library answers. */
static const struct {
        const char *schema;
        const char *errors;
} cases[] = {
        { "{'type':'object'}", "" },
        { "{}", "s.type: Required value: must not be empty at the root\n" },
        { "{'type':'string'}", "s.type: Invalid value: \"string\": must be object at the root\n" },
        { "{'x-kubernetes-preserve-unknown-fields':true}", "" },
        { "{'type':'object','nullable':true}", "s.nullable: Forbidden: nullable cannot be true at the root\n" },
        { "{'type':'object','additionalProperties':true}",
          "s.additionalProperties: Forbidden: must not be used at the root\n" },
        { "{'type':'object','properties':{'a':{}}}",
          "s.properties[a].type: Required value: must not be empty for specified object fields\n" },
        { "{'type':'object','properties':{'a':{'type':'array','items':{}}}}",
          "s.properties[a].items.type: Required value: must not be empty for specified array items\n" },
        { "{'type':'object','properties':{'a':{'type':'array'}}}",
          "s.properties[a].items: Required value: must be specified\n" },
        { "{'type':'object','properties':{'a':{'type':'foo'}}}",
          "s.properties[a].type: Unsupported value: \"foo\": supported values: \"array\", \"boolean\", \"integer\", "
          "\"number\", \"object\", \"string\"\n" },
        { "{'type':'object','properties':{'a':{'type':'object','additionalProperties':{'type':'foo'}}}}",
          "s.properties[a].additionalProperties.type: Unsupported value: \"foo\": supported values: \"array\", "
          "\"boolean\", \"integer\", \"number\", \"object\", \"string\"\n" },
        { "{'type':'object','properties':{'a':{'type':'array','items':[{'type':'string'}]}}}",
          "s.properties[a].items: Forbidden: items must be a schema object and not an array\n" },
        { "{'type':'object','properties':{'a':{'type':'object','properties':{'b':{'type':'string'}},"
          "'additionalProperties':false}}}",
          "s.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual "
          "exclusive\n" },
        { "{'properties':{'a':{'type':'string'}},'nullable':true,'x-kubernetes-preserve-unknown-fields':false,"
          "'uniqueItems':true,'$ref':'a','id':'x','$schema':'y','definitions':{'a':{'type':'object'}},"
          "'dependencies':{'a':['b']},'patternProperties':{'a':{'type':'string'}},'additionalItems':true}",
          "s.$ref: Forbidden: $ref is not supported\n"
          "s.additionalItems: Forbidden: additionalItems is not supported\n"
          "s.definitions: Forbidden: definitions is not supported\n"
          "s.dependencies: Forbidden: dependencies is not supported\n"
          "s.id: Forbidden: id is not supported\n"
          "s.nullable: Forbidden: nullable cannot be true at the root\n"
          "s.patternProperties: Forbidden: patternProperties is not supported\n"
          "s.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes "
          "quadratic\n"
          "s.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined\n" },
        { "{'type':'object','$schema':'y'}", "s: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported\n" },
        { "{'type':'object','properties':{'a':{'type':'null'}}}",
          "s.properties[a].type: Forbidden: type cannot be set to null, use nullable as an alternative\n"
          "s.properties[a].type: Unsupported value: \"null\": supported values: \"array\", \"boolean\", \"integer\", "
          "\"number\", \"object\", \"string\"\n" },
        /* Groups. */
        { "{'type':'object','anyOf':[{'type':'object','title':'a','description':'b','default':{},'nullable':true,"
          "'additionalProperties':true,'properties':{'zz':{'minimum':1}},'x-kubernetes-preserve-unknown-fields':true,"
          "'x-kubernetes-embedded-resource':true,'x-kubernetes-int-or-string':true,'x-kubernetes-map-type':'atomic',"
          "'x-kubernetes-validations':[{'rule':'true'}]}]}",
          "s.anyOf[0].additionalProperties: Forbidden: must be undefined to be structural\n"
          "s.anyOf[0].default: Forbidden: must be undefined to be structural\n"
          "s.anyOf[0].description: Forbidden: must be empty to be structural\n"
          "s.anyOf[0].nullable: Forbidden: must be false to be structural\n"
          "s.anyOf[0].title: Forbidden: must be empty to be structural\n"
          "s.anyOf[0].type: Forbidden: must be empty to be structural\n"
          "s.anyOf[0].x-kubernetes-embedded-resource: Forbidden: must be false to be structural\n"
          "s.anyOf[0].x-kubernetes-int-or-string: Forbidden: must be false to be structural\n"
          "s.anyOf[0].x-kubernetes-map-type: Forbidden: must be undefined to be structural\n"
          "s.anyOf[0].x-kubernetes-preserve-unknown-fields: Forbidden: must be false to be structural\n"
          "s.anyOf[0].x-kubernetes-validations: Forbidden: must be empty to be structural\n"
          "s.properties[zz]: Required value: because it is defined in s.anyOf[0].properties[zz]\n" },
        { "{'type':'object','not':{'properties':{'metadata':{'minLength':1},'spec':{'properties':{'metadata':"
          "{'minLength':3},'a':{'type':'string'}},'items':{}}}},'properties':{'spec':{'type':'object','properties':{"
          "'metadata':{'type':'string'}}}}}",
          "s.not.properties[metadata]: Forbidden: must not be specified in a nested context\n"
          "s.not.properties[spec].properties[a].type: Forbidden: must be empty to be structural\n"
          "s.not.properties[spec].properties[metadata]: Forbidden: must not be specified in a nested context\n"
          "s.properties[metadata]: Required value: because it is defined in s.not.properties[metadata]\n"
          "s.properties[spec].items: Required value: because it is defined in s.not.properties[spec].items\n"
          "s.properties[spec].properties[a]: Required value: because it is defined in "
          "s.not.properties[spec].properties[a]\n" },
        { "{'type':'object','properties':{'a':{'x-kubernetes-int-or-string':true,'anyOf':[{'type':'integer'},{'type':"
          "'string'}]},'b':{'x-kubernetes-int-or-string':true,'allOf':[{'anyOf':[{'type':'integer'},{'type':'string'}]}"
          ","
          "{'minimum':1}]}}}",
          "" },
        { "{'type':'object','properties':{'a':{'x-kubernetes-int-or-string':true,'oneOf':[{'type':'integer'},{'type':"
          "'string'}]}}}",
          "s.properties[a].oneOf[0].type: Forbidden: must be empty to be structural\n"
          "s.properties[a].oneOf[1].type: Forbidden: must be empty to be structural\n" },
        /* Metadata and embedded resources. */
        { "{'type':'object','properties':{'metadata':{'type':'object','properties':{'name':{'type':'string',"
          "'maxLength':5}}},'kind':{'type':'integer'},'apiVersion':{'type':'string','default':'v1'}}}",
          "s.properties[apiVersion].default: Forbidden: must not be set in top-level apiVersion\n"
          "s.properties[kind].type: Invalid value: \"integer\": must be string\n" },
        { "{'type':'object','properties':{'metadata':{'type':'object','default':{}}}}",
          "s.properties[metadata].default: Forbidden: must not be set in top-level metadata\n" },
        { "{'type':'object','properties':{'metadata':{'type':'object','properties':{'labels':{'type':'object'}}}}}",
          "s.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata "
          "is implicitly specified\n" },
        { "{'type':'object','properties':{'metadata':{'type':'object','properties':{'name':{'type':'object',"
          "'x-kubernetes-embedded-resource':true,'x-kubernetes-preserve-unknown-fields':true}}}}}",
          "s.properties[metadata].properties[name].x-kubernetes-embedded-resource: Forbidden: must not be used inside "
          "of "
          "resource meta\n" },
        { "{'type':'object','properties':{'a':{'type':'string','x-kubernetes-embedded-resource':true},'b':{'type':"
          "'object','x-kubernetes-embedded-resource':true,'properties':{'apiVersion':{'type':'integer'},'metadata':{"
          "'type':'string'}}},'c':{'x-kubernetes-int-or-string':true,'x-kubernetes-preserve-unknown-fields':true,"
          "'x-kubernetes-embedded-resource':true},'d':{'type':'object','x-kubernetes-embedded-resource':true,"
          "'x-kubernetes-preserve-unknown-fields':true,'additionalProperties':true}}}",
          "s.properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true "
          "without x-kubernetes-preserve-unknown-fields\n"
          "s.properties[a].type: Invalid value: \"string\": must be object if x-kubernetes-embedded-resource is true\n"
          "s.properties[b].properties[apiVersion].type: Invalid value: \"integer\": must be string\n"
          "s.properties[b].properties[metadata].type: Invalid value: \"string\": must be object\n"
          "s.properties[c].type: Required value: must be object if x-kubernetes-embedded-resource is true\n"
          "s.properties[c].x-kubernetes-embedded-resource: Invalid value: true: must be false if "
          "x-kubernetes-int-or-string is true\n"
          "s.properties[c].x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if "
          "x-kubernetes-int-or-string is true\n"
          "s.properties[d].additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is "
          "set\n" },
        { "{'type':'object','properties':{'a':{'type':'string','pattern':'('}}}",
          "s.properties[a].pattern: Invalid value: \"(\": must be a valid regular expression, but isn't: error parsing "
          "regexp: missing closing ): `(`\n" },
        /* Lists and maps. */
        { "{'type':'object','properties':{'a':{'type':'array','items':{'type':'object','nullable':true},"
          "'x-kubernetes-list-type':'set'},'b':{'type':'array','items':{'type':'array','x-kubernetes-list-type':'set',"
          "'items':{'type':'string'}},'x-kubernetes-list-type':'set'},'c':{'type':'string','x-kubernetes-list-type':"
          "'foo','x-kubernetes-list-map-keys':['a'],'x-kubernetes-map-type':'foo'},'d':{'type':'array','items':{'type':"
          "'string'},'x-kubernetes-list-map-keys':['a']}}}",
          "s.properties[a].items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set\n"
          "s.properties[a].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with "
          "x-kubernetes-list-type=set\n"
          "s.properties[b].items.x-kubernetes-list-type: Invalid value: \"set\": must be atomic as item of a list with "
          "x-kubernetes-list-type=set\n"
          "s.properties[c].type: Invalid value: \"string\": must be array if x-kubernetes-list-type is specified\n"
          "s.properties[c].type: Invalid value: \"string\": must be object if x-kubernetes-map-type is specified\n"
          "s.properties[c].x-kubernetes-list-type: Invalid value: \"foo\": must be map if x-kubernetes-list-map-keys "
          "is "
          "non-empty\n"
          "s.properties[c].x-kubernetes-list-type: Unsupported value: \"foo\": supported values: \"atomic\", \"set\", "
          "\"map\"\n"
          "s.properties[c].x-kubernetes-map-type: Unsupported value: \"foo\": supported values: \"atomic\", "
          "\"granular\"\n"
          "s.properties[d].x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is "
          "non-empty\n" },
        { "{'type':'object','properties':{'b':{'type':'array','items':{'type':'string','nullable':true},"
          "'x-kubernetes-list-type':'map'},'c':{'type':'array','items':{'type':'object','properties':{'n':{'type':"
          "'object','nullable':true},'m':{'type':'string'}}},'x-kubernetes-list-type':'map','x-kubernetes-list-map-"
          "keys':"
          "['n','q','m','m']},'d':{'x-kubernetes-preserve-unknown-fields':true,'x-kubernetes-list-type':'map',"
          "'x-kubernetes-map-type':'atomic'}}}",
          "s.properties[b].items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map\n"
          "s.properties[b].items.type: Invalid value: \"string\": must be object if parent array's "
          "x-kubernetes-list-type is map\n"
          "s.properties[b].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is "
          "map\n"
          "s.properties[c].items.properties[m].default: Required value: this property is in "
          "x-kubernetes-list-map-keys, "
          "so it must have a default or be a required property\n"
          "s.properties[c].items.properties[m].default: Required value: this property is in "
          "x-kubernetes-list-map-keys, "
          "so it must have a default or be a required property\n"
          "s.properties[c].items.properties[n].default: Required value: this property is in "
          "x-kubernetes-list-map-keys, "
          "so it must have a default or be a required property\n"
          "s.properties[c].items.properties[n].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so "
          "it cannot be nullable\n"
          "s.properties[c].items.properties[n].type: Invalid value: \"object\": must be a scalar type if parent "
          "array's "
          "x-kubernetes-list-type is map\n"
          "s.properties[c].x-kubernetes-list-map-keys: Invalid value: [\"n\",\"q\",\"m\",\"m\"]: entries must all be "
          "names of item properties\n"
          "s.properties[c].x-kubernetes-list-map-keys: Invalid value: [\"n\",\"q\",\"m\",\"m\"]: must not contain "
          "duplicate entries\n"
          "s.properties[d].items: Required value: must have a schema if x-kubernetes-list-type is map\n"
          "s.properties[d].type: Required value: must be array if x-kubernetes-list-type is specified\n"
          "s.properties[d].type: Required value: must be object if x-kubernetes-map-type is specified\n"
          "s.properties[d].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is "
          "map\n" },
        /* Defaults. */
        { "{'type':'object','properties':{'a':{'type':'string','default':1},'b':{'type':'object','default':{'z':1}},"
          "'c':{'type':'array','items':{'type':'string'},'default':[1]},'d':{'type':'string','default':null},'e':{'"
          "type':"
          "'integer','default':3,'anyOf':[{'minimum':5},{'minimum':6}]},'f':{'x-kubernetes-int-or-string':true,"
          "'default':true},'g':{'type':'object','additionalProperties':{'type':'string','default':1}}}}",
          "s.properties[a].default: Invalid value: \"integer\":  in body must be of type string: \"integer\"\n"
          "s.properties[b].default: Invalid value: {\"z\":1}: must not have unknown fields\n"
          "s.properties[c].default.[0]: Invalid value: \"integer\": [0] in body must be of type string: \"integer\"\n"
          "s.properties[e].default: Invalid value: \"\": \"\" must validate at least one schema (anyOf)\n"
          "s.properties[e].default: Invalid value: 3:  in body should be greater than or equal to 5\n" },
        { "{'type':'object','default':{'spec':1},'properties':{'spec':{'type':'integer'},'e':{'type':'object','default'"
          ":{"
          "'kind':'9x','apiVersion':1},'x-kubernetes-embedded-resource':true,'x-kubernetes-preserve-unknown-fields':"
          "true}}}",
          "s.default.apiVersion: Required value\n"
          "s.default.kind: Required value\n"
          "s.properties[e].default.apiVersion: Invalid value: 1: must be a string\n" },
        /* A schema that an API server refuses before this check. */
        { "{'type':5,'properties':[],'items':'x','additionalProperties':1,'not':3,'allOf':{},'anyOf':[1],'required':[1]"
          ","
          "'enum':1,'nullable':'x','minimum':'x','maxLength':1.5,'definitions':1,'x-kubernetes-preserve-unknown-fields'"
          ":"
          "1}",
          "s.additionalProperties: Invalid value: 1: must be a schema or a boolean\n"
          "s.allOf: Invalid value: {}: must be a list of schemas\n"
          "s.anyOf: Invalid value: [1]: must be a list of schemas\n"
          "s.definitions: Invalid value: 1: must be an object\n"
          "s.enum: Invalid value: 1: must be a list\n"
          "s.items: Invalid value: \"x\": must be a schema\n"
          "s.maxLength: Invalid value: 1.5: must be an integer\n"
          "s.minimum: Invalid value: \"x\": must be a number\n"
          "s.not: Invalid value: 3: must be a schema\n"
          "s.nullable: Invalid value: \"x\": must be a boolean\n"
          "s.properties: Invalid value: []: must be an object of schemas\n"
          "s.required: Invalid value: [1]: must be a list of strings\n"
          "s.type: Invalid value: 5: must be a string\n"
          "s.type: Required value: must not be empty at the root\n"
          "s.x-kubernetes-preserve-unknown-fields: Invalid value: 1: must be a boolean\n" },
        { "{'type':'object','properties':{'a':3}}",
          "s.properties: Invalid value: 3: must be an object of schemas\n"
          "s.properties[a].type: Required value: must not be empty for specified object fields\n" },
};

static struct str quoted(struct arena *a, const char *text)
{
        char *copy = arena_cstring(a, str_from(text));

        for (char *p = copy; *p; p++)
                *p = *p == '\'' ? '"' : *p;
        return str_from(copy);
}

TEST(schemas)
{
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_buf_ struct buf got = BUF_INIT(0);
                _cleanup_arena_ struct arena a;
                struct schema *s = NULL;
                struct field_errors errors;
                struct str_list lines;
                const struct value *v;
                int r;

                arena_init(&a, "test", 0);
                field_errors_init(&errors, &a);
                str_list_init(&lines, &a);
                ASSERT_CASE(cases[i].schema, json_parse(&a, quoted(&a, cases[i].schema), NULL, &v, NULL) == 0);
                r = schema_compile(v, STR("s"), &s, &errors);
                ASSERT_CASE(cases[i].schema, (r == 0) == (cases[i].errors[0] == '\0') && (r == 0) == (s != NULL));
                for (size_t k = 0; k < errors.n; k++)
                        str_list_printf(&lines, "%.*s: %.*s\n", STR_ARG(errors.p[k].field), STR_ARG(errors.p[k].text));
                str_list_sort(&lines);
                for (size_t k = 0; k < lines.n; k++)
                        buf_append_str(&got, lines.p[k]);
                ASSERT_STR_CASE(cases[i].schema, buf_str(&got), str_from(cases[i].errors));
                schema_unref(s);
        }
}

/* Without a field the paths begin with the first step. */
TEST(no_field)
{
        _cleanup_arena_ struct arena a;
        struct schema *s = NULL;
        struct field_errors errors;
        const struct value *v;

        arena_init(&a, "test", 0);
        field_errors_init(&errors, &a);
        ASSERT(json_parse(&a, STR("{\"type\":\"object\",\"properties\":{\"a\":{}}}"), NULL, &v, NULL) == 0);
        ASSERT_INT(schema_compile(v, STR(""), &s, &errors), ERR_INVALID);
        ASSERT_STR(errors.p[0].field, STR("properties[a].type"));
}
