import com.google.gson.Gson;
import io.getunleash.DefaultUnleash;
import io.getunleash.UnleashContext;
import io.getunleash.util.UnleashConfig;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.List;
import java.util.Map;

/** Evaluates toggles with unleash-client-java. The protocol is that of ../javascript/lines.js. */
public class Main {
    record Toggle(String name) {}

    record Context(
            String userId, String sessionId, String remoteAddress, Map<String, String> properties) {}

    record Request(Context context, List<Toggle> toggles) {}

    public static void main(String[] args) throws Exception {
        var unleash =
                new DefaultUnleash(
                        UnleashConfig.builder()
                                .unleashAPI(System.getenv("CLIENT_URL") + "/api")
                                .appName("sdk")
                                .instanceId("test")
                                .customHttpHeader("Authorization", System.getenv("CLIENT_TOKEN"))
                                .backupFile(System.getenv("TMPDIR") + "/backup.json")
                                .fetchTogglesInterval(1)
                                .sendMetricsInterval(1)
                                .synchronousFetchOnInitialisation(true)
                                .build());
        var gson = new Gson();
        var input = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = input.readLine()) != null; ) {
            var request = gson.fromJson(line, Request.class);
            var context =
                    UnleashContext.builder()
                            .userId(request.context.userId)
                            .sessionId(request.context.sessionId)
                            .remoteAddress(request.context.remoteAddress);
            request.context.properties.forEach(context::addProperty);
            var built = context.build();
            var results =
                    request.toggles.stream().map(t -> evaluate(unleash, t.name, built)).toList();
            System.out.println(gson.toJson(results));
        }
        System.exit(0);
    }

    static String evaluate(DefaultUnleash unleash, String name, UnleashContext context) {
        if (!unleash.isEnabled(name, context)) {
            return "off";
        }
        var variant = unleash.getVariant(name, context);
        if (!variant.isEnabled()) {
            return "on";
        }
        return "on " + variant.getName() + " " + variant.getPayload().get().getValue();
    }
}
