package spring;

import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.context.ServletWebServerInitializedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import rap.Delivery;
import rap.Invocation;
import rap.Operations;

/** A tool in Spring Boot, with its defaults: a banner and log lines come before the line with the port. */
@SpringBootApplication
@RestController
public class SpringTool {
  public static void main(String[] args) {
    SpringApplication.run(SpringTool.class, "--server.port=0", "--server.address=127.0.0.1");
  }

  @EventListener
  void announce(ServletWebServerInitializedEvent event) {
    System.out.println("{\"port\":" + event.getWebServer().getPort() + "}");
  }

  @GetMapping("/.well-known/rap-toolset")
  Map<String, Object> discovery(HttpServletRequest request) {
    return Operations.toolset("spring-tool", "http://127.0.0.1:" + request.getLocalPort() + "/invoke");
  }

  @PostMapping("/invoke")
  void invoke(@RequestBody Invocation invocation) {
    Delivery.start(invocation);
  }

  @PostMapping({"/close_thread", "/cancel_tool_call"})
  void notice() {}
}
