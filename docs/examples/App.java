// Maven: io.getunleash:unleash-client-java
import io.getunleash.DefaultUnleash;
import io.getunleash.UnleashContext;
import io.getunleash.util.UnleashConfig;

public class App {
    public static void main(String[] args) throws InterruptedException {
        var unleash =
                new DefaultUnleash(
                        UnleashConfig.builder()
                                .unleashAPI(System.getenv("CLIENT_URL") + "/api")
                                .appName("shop")
                                .customHttpHeader("Authorization", System.getenv("CLIENT_TOKEN"))
                                .fetchTogglesInterval(5) // seconds
                                .build());
        var context = UnleashContext.builder().userId("7").addProperty("country", "NO").build();
        Boolean shown = null;
        while (true) {
            boolean isOn = unleash.isEnabled("express-checkout", context);
            if (shown == null || isOn != shown) {
                System.out.println("express-checkout is " + (isOn ? "on" : "off"));
                shown = isOn;
            }
            Thread.sleep(1000);
        }
    }
}
