//go:build ignore

// Prints src/data/go/go-unicode-tables.h: what Go says about every rune, as sorted ranges.
//
//	go run tools/gounicode.go | clang-format-14 >src/data/go/go-unicode-tables.h
package main

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"unicode"
)

// printable writes the ranges of runes for which strconv.IsPrint holds.
func printable() {
	fmt.Print("static const struct range printable[] = {\n")
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !strconv.IsPrint(r) {
			continue
		}
		first := r
		for r < unicode.MaxRune && strconv.IsPrint(r+1) {
			r++
		}
		fmt.Printf("{ 0x%X, 0x%X },\n", first, r)
	}
	fmt.Print("};\n\n")
}

// mapping writes the runs of runes, next to each other or every second one, that f moves by the same distance.
func mapping(name string, f func(rune) rune) {
	fmt.Printf("static const struct mapping %s[] = {\n", name)
	for r := rune(0); r <= unicode.MaxRune; {
		delta := f(r) - r
		if delta == 0 {
			r++
			continue
		}
		last, step := r, rune(1)
		if f(r+1)-(r+1) != delta && f(r+2)-(r+2) == delta {
			step = 2
		}
		for last+step <= unicode.MaxRune && f(last+step)-(last+step) == delta &&
			(step == 1 || f(last+1) == last+1) {
			last += step
		}
		fmt.Printf("{ 0x%X, 0x%X, %d, %d },\n", r, last, delta, step)
		r = last + 1
	}
	fmt.Print("};\n\n")
}

// runs writes the runs of runes, next to each other or every second one, for which f holds.
func runs(name string, f func(rune) bool) {
	fmt.Printf("static const struct run %s[] = {\n", name)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !f(r) {
			continue
		}
		last, step := r, rune(1)
		if !f(r+1) && f(r+2) {
			step = 2
		}
		for last+step <= unicode.MaxRune && f(last+step) && (step == 1 || !f(last+1)) {
			last += step
		}
		fmt.Printf("{ 0x%X, 0x%X, %d },\n", r, last, step)
		r = last
	}
	fmt.Print("};\n\n")
}

func main() {
	version := strings.Join(strings.SplitN(strings.TrimPrefix(runtime.Version(), "go"), ".", 3)[:2], ".")
	fmt.Printf("/* Made by tools/gounicode.go from Go %s, Unicode %s: do not edit. */\n#pragma once\n\n", version, unicode.Version)
	printable()
	mapping("to_upper", unicode.ToUpper)
	mapping("to_lower", unicode.ToLower)
	mapping("to_title", unicode.ToTitle)
	runs("upper", unicode.IsUpper)
	runs("lower", unicode.IsLower)
	runs("title", unicode.IsTitle)
	runs("number", unicode.IsNumber)
	runs("punctuation", unicode.IsPunct)
}
