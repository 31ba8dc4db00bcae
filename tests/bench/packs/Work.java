// SPDX-License-Identifier: Apache-2.0
// Fixed work for the JVM: short-lived objects, maps, locks that are contended. Writes the CPU time it took, in nanoseconds,
// to the file it is given.
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class Work {
    record Item(int id, String name, int[] tags) {}

    private static final Object LOCK = new Object();
    private static long total;

    private static void turn() {
        List<Item> items = new ArrayList<>();
        for (int i = 0; i < 40000; i++) items.add(new Item(i, "n" + i, new int[] {i, i + 1}));
        Map<String, Item> byName = new HashMap<>();
        for (Item item : items) byName.put(item.name(), item);
        items.sort((a, b) -> b.id() - a.id());
        synchronized (LOCK) {
            total += byName.size() + items.get(0).id();
        }
    }

    public static void main(String[] arguments) throws Exception {
        var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long begin = system.getProcessCpuTime();
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int turn = 0; turn < 40; turn++) turn();
            });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        long used = system.getProcessCpuTime() - begin;
        Files.writeString(Path.of(arguments[0]), used + "\n");
    }
}
