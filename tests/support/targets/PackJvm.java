// SPDX-License-Identifier: Apache-2.0
//
// Counts what it makes the Java virtual machine do, by the beans of the platform. Speaks like the programs beside it (README.md), and
// halts after its last line.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ClassLoadingMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

public final class PackJvm {
    private static final Object LOCK = new Object();
    private static final ClassLoadingMXBean CLASSES = ManagementFactory.getClassLoadingMXBean();
    private static final List<GarbageCollectorMXBean> COLLECTORS = ManagementFactory.getGarbageCollectorMXBeans();
    private static final List<byte[]> KEPT = new ArrayList<>();

    private static volatile long total;

    // How often threads waited to enter a monitor.
    private static long blocked;

    private static final class Broken {
        static final Object VALUE = fail();

        private static Object fail() {
            throw new IllegalStateException("as told");
        }
    }

    private static final class Thing {
        final int[] numbers = new int[10];
    }

    // Loaded when all is counted: what a recording has of later is not in the counts.
    private static final class Counted {
        static final int VALUE = new int[1].length;
    }

    private PackJvm() {}

    private static void work() {
        try {
            for (int i = 0; i < 20; ++i) {
                synchronized (LOCK) {
                    Thread.sleep(1);
                }
            }
        } catch (InterruptedException stop) {
            return;
        }
        LockSupport.parkNanos(1_000_000);
        ThreadInfo self = infoOf(Thread.currentThread());
        synchronized (KEPT) {
            blocked += self.getBlockedCount();
        }
    }

    private static ThreadInfo infoOf(Thread thread) {
        return ManagementFactory.getThreadMXBean().getThreadInfo(thread.getId());
    }

    private static void runThreads() throws InterruptedException {
        // Loads what the workers would wait for each other to load: the bean counts the return from
        // such a wait as blocked, and no probe tells it.
        infoOf(Thread.currentThread()).getBlockedCount();
        List<Thread> threads = new ArrayList<>();
        for (int i = 1; i <= 2; ++i) threads.add(new Thread(PackJvm::work, "worker with a long name " + i));
        // Both wait for it at least once, however late the second one starts.
        synchronized (LOCK) {
            for (Thread thread : threads) thread.start();
            for (Thread thread : threads) {
                while (thread.getState() != Thread.State.BLOCKED) Thread.onSpinWait();
            }
        }
        for (Thread thread : threads) thread.join();
    }

    private static int leaf(int i) {
        return i + 1;
    }

    private static void call() {
        int sum = 0;
        for (int i = 0; i < 1000; ++i) sum = leaf(sum);
        for (int i = 0; i < 50; ++i) total += new Thing().numbers.length;
        total += sum;
        try {
            total += Broken.VALUE.hashCode();
        } catch (ExceptionInInitializerError expected) {
            total++;
        }
    }

    // Collections come of it; the last one is over when it returns, so that none follows.
    private static void makeGarbage(int arrays) {
        for (int i = 0; i < arrays; ++i) {
            byte[] array = new byte[65536];
            total += array.length;
            if (i % 10 != 0) continue;
            KEPT.add(array);
            if (KEPT.size() > 100) KEPT.clear();
        }
        KEPT.clear();
        for (int i = 0; i < 3; ++i) System.gc();
    }

    // Text by plain concatenation into one builder: a second time it needs no class that is new.
    private static String counts(String since) {
        StringBuilder text = new StringBuilder();
        text.append("{\"pid\":").append(ProcessHandle.current().pid());
        text.append(",\"blocked\":").append(blocked);
        text.append(",\"loaded\":").append(CLASSES.getTotalLoadedClassCount());
        text.append(",\"unloaded\":").append(CLASSES.getUnloadedClassCount());
        text.append(",\"collections\":{");
        String comma = "";
        for (GarbageCollectorMXBean collector : COLLECTORS) {
            text.append(comma).append('"').append(collector.getName()).append("\":").append(collector.getCollectionCount());
            comma = ",";
        }
        text.append('}');
        if (since != null) text.append(",\"before\":").append(since);
        return text.append('}').toString();
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        // What is asked for below has been there once.
        String first = counts(counts(null));
        int arrays = arguments.length == 0 ? 3000 : Integer.parseInt(arguments[0]);
        System.out.println("{\"ready\":" + ProcessHandle.current().pid() + "}");
        input.readLine();
        String before = counts(null);
        runThreads();
        call();
        makeGarbage(arrays);
        String after = counts(before);
        total += Counted.VALUE;
        System.out.println(after);
        input.readLine();
        Runtime.getRuntime().halt(first.isEmpty() ? 1 : 0);
    }
}
