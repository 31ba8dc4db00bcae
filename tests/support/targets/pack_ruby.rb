# SPDX-License-Identifier: Apache-2.0
#
# Counts what it makes the interpreter of Ruby do. Speaks like the programs beside it (README.md), and ends at once after its last
# line. Its argument is a file to load.
$required = Hash.new(0)

module Kernel
  alias_method :require_uncounted, :require
  def require(name)
    $required[name] += 1
    require_uncounted(name)
  end
end

class Thing
end

class Worker
  def step(i)
    i + 1
  end
end

class Failure < StandardError
end

def make_garbage
  20_000.times { "x" * 100 }
  GC.start
  GC.start(full_mark: false)
end

def require_libraries
  require 'English'
  require 'set'
  require 'set'
  begin
    require 'no_such_library'
  rescue LoadError
    nil
  end
  require 'ostruct'
end

def raise_failures
  5.times do
    raise Failure, 'as told'
  rescue Failure
    nil
  end
end

def load_file(path)
  2.times { load path }
end

def call_methods
  list = []
  100.times { |i| list.push(i) }
  50.times { Thing.new }
  calls = 0
  trace = TracePoint.new(:call, :return) do |point|
    calls += 1 if point.event == :call && point.method_id == :step
  end
  worker = Worker.new
  worker.step(0)
  trace.enable { 200.times { |i| worker.step(i) } }
  calls
end

def counts(before, after, calls)
  required = $required.map { |name, count| "\"#{name}\":#{count}" }.join(',')
  "{\"pid\":#{Process.pid},\"collections_before\":#{before},\"collections\":#{after}," \
    "\"required\":{#{required}},\"calls\":#{calls}}"
end

$stdout.sync = true
puts "{\"ready\":#{Process.pid}}"
$stdin.gets
before = GC.count
make_garbage
require_libraries
raise_failures
load_file(ARGV[0]) if ARGV[0]
calls = call_methods
GC.disable
puts counts(before, GC.count, calls)
$stdin.gets
exit!(0)
