// SPDX-License-Identifier: MIT

// A program that profiles itself and exports that by gRPC, as OpenTelemetry's Go modules have it:
// ADDRESS SECONDS TIMES NAME=VALUE ...
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type builder struct {
	to      pprofile.ProfilesDictionary
	strings map[string]int32
}

func (b *builder) text(s string) int32 {
	if _, known := b.strings[s]; !known {
		b.strings[s] = int32(b.to.StringTable().Len())
		b.to.StringTable().Append(s)
	}
	return b.strings[s]
}

// Index 0 of every table is nothing, and ids of pprof's begin at 1.
func (b *builder) tables(p *profile.Profile) {
	b.text("")
	b.to.MappingTable().AppendEmpty()
	b.to.FunctionTable().AppendEmpty()
	b.to.LocationTable().AppendEmpty()
	b.to.StackTable().AppendEmpty()
	b.to.LinkTable().AppendEmpty()
	b.to.AttributeTable().AppendEmpty()
	for _, f := range p.Function {
		function := b.to.FunctionTable().AppendEmpty()
		function.SetNameStrindex(b.text(f.Name))
		function.SetFilenameStrindex(b.text(f.Filename))
		function.SetStartLine(f.StartLine)
	}
	for _, l := range p.Location {
		location := b.to.LocationTable().AppendEmpty()
		location.SetAddress(l.Address)
		for _, line := range l.Line {
			to := location.Lines().AppendEmpty()
			to.SetFunctionIndex(int32(line.Function.ID))
			to.SetLine(line.Line)
		}
	}
}

func (b *builder) samples(p *profile.Profile, to pprofile.Profile) {
	to.SetTime(pcommon.Timestamp(p.TimeNanos))
	to.SetDurationNano(uint64(p.DurationNanos))
	to.SampleType().SetTypeStrindex(b.text("cpu"))
	to.SampleType().SetUnitStrindex(b.text("nanoseconds"))
	to.PeriodType().SetTypeStrindex(b.text("cpu"))
	to.PeriodType().SetUnitStrindex(b.text("nanoseconds"))
	to.SetPeriod(p.Period)
	for _, s := range p.Sample {
		stack := b.to.StackTable().AppendEmpty()
		for _, l := range s.Location {
			stack.LocationIndices().Append(int32(l.ID))
		}
		sample := to.Samples().AppendEmpty()
		sample.SetStackIndex(int32(b.to.StackTable().Len() - 1))
		sample.Values().Append(s.Value[len(s.Value)-1])
	}
}

func main() {
	var file bytes.Buffer
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	fail(err)
	times, err := strconv.Atoi(os.Args[3])
	fail(err)
	fail(pprof.StartCPUProfile(&file))
	run(seconds, times)
	pprof.StopCPUProfile()
	read, err := profile.Parse(&file)
	fail(err)

	profiles := pprofile.NewProfiles()
	resource := profiles.ResourceProfiles().AppendEmpty()
	for _, pair := range os.Args[4:] {
		name, value, _ := strings.Cut(pair, "=")
		resource.Resource().Attributes().PutStr(name, value)
	}
	b := builder{to: profiles.Dictionary(), strings: map[string]int32{}}
	b.tables(read)
	b.samples(read, resource.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty())

	connection, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	fail(err)
	client := pprofileotlp.NewGRPCClient(connection)
	_, err = client.Export(context.Background(), pprofileotlp.NewExportRequestFromProfiles(profiles))
	fail(err)
}
