# SPDX-License-Identifier: Apache-2.0
# Fixed work for Ruby: objects, hashes, strings, blocks, exceptions. Writes the CPU time it took, in nanoseconds, to the
# file it is given.
def cpu_ns
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
end

Item = Struct.new(:id, :name, :tags)

def work
  total = 0
  15.times do
    items = (0...30_000).map { |i| Item.new(i, "n#{i}", [i, i + 1]) }
    by_name = items.to_h { |item| [item.name, item] }
    total += by_name.values.sort_by { |item| -item.id }.sum(&:id)
    100.times do
      raise ArgumentError, 'planned'
    rescue ArgumentError
      total += 1
    end
  end
  total
end

begin_ns = cpu_ns
work
File.write(ARGV[0], "#{cpu_ns - begin_ns}\n")
