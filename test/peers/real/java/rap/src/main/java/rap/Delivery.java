package rap;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Posts results: again after a 5xx or a lost connection, with growing pauses. */
public final class Delivery {
  private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final ExecutorService WORKERS = Executors.newCachedThreadPool();

  private Delivery() {}

  public static void start(Invocation invocation) {
    if (invocation == null || invocation.callbackUrl() == null || invocation.id() == null) return;
    WORKERS.execute(() -> deliver(invocation));
  }

  private static void deliver(Invocation invocation) {
    try {
      byte[] body = JSON.writeValueAsBytes(Operations.result(invocation));
      HttpRequest request = HttpRequest.newBuilder(URI.create(invocation.callbackUrl()))
          .header("Content-Type", "application/json")
          .timeout(Duration.ofSeconds(10))
          .POST(BodyPublishers.ofByteArray(body))
          .build();
      for (long pause = 100; pause < 5_000; pause *= 2) {
        if (isSettled(request)) return;
        Thread.sleep(pause);
      }
      System.err.println("could not deliver a result");
    } catch (IOException | IllegalArgumentException problem) {
      System.err.println("could not deliver a result: " + problem.getMessage());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private static boolean isSettled(HttpRequest request) throws InterruptedException {
    try {
      return CLIENT.send(request, BodyHandlers.discarding()).statusCode() < 500;
    } catch (IOException lost) {
      return false;
    }
  }
}
