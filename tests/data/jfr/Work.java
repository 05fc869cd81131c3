import java.util.*;
import java.util.concurrent.locks.LockSupport;

/** Computes in two threads, allocates, waits for a lock and parks: something of each event. */
public class Work {
	static final Object lock = new Object();
	static volatile Object kept;
	static volatile double sink;

	static double busy(int n) {
		double x = 0;
		for (int i = 1; i < n; i++)
			x += Math.sin(i) / i;
		return x;
	}

	static int depth(int n) {
		if (n > 0)
			return depth(n - 1) + 1;
		sink = busy(4_000_000);
		return 0;
	}

	static void allocate(int n) {
		for (int i = 0; i < n; i++)
			kept = new byte[2000 + i % 100];
	}

	static class Locker implements Runnable {
		public void run() {
			for (int i = 0; i < 5; i++)
				synchronized (lock) {
					sink = busy(1_000_000);
				}
		}
	}

	public static void main(String[] args) throws Exception {
		long until = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000L;
		Thread parked = new Thread(() -> {
			for (int i = 0; i < 3; i++)
				LockSupport.parkNanos(60_000_000L);
		}, "parked ü");
		parked.start();
		while (System.nanoTime() < until) {
			Thread other = new Thread(new Locker(), "locker");
			synchronized (lock) {
				other.start();
				Thread.sleep(30);
				sink = busy(2_000_000);
			}
			sink = busy(3_000_000);
			depth(100);
			allocate(200_000);
			Map<Integer, String> map = new TreeMap<>();
			for (int i = 0; i < 20_000; i++)
				map.put(i * 7919 % 100_003, "v" + i);
			kept = map;
			other.join();
		}
		parked.join();
	}
}
