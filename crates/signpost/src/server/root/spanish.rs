//! The texts of the front page in Spanish.

use super::RootWords;

pub(super) const ROOT: RootWords = RootWords {
    title: "Qué hay en",
    lead: "Este es un servidor Signpost. Las personas lo ven cuando un sitio les pide iniciar sesión; los programas usan las \
           direcciones de abajo.",
    login: "Inicio de sesión con billetera",
    login_text: "Los sitios envían aquí a las personas para que inicien sesión sin contraseña. Si un sitio te envió, vuelve a \
                 él y pulsa otra vez su botón de inicio de sesión.",
    accounts: "Ver aquí tus cuentas y llaves",
    live_api: "API en vivo",
    sandbox_api: "API de pruebas",
    reference: "Leer la referencia de la API (en inglés)",
    description: "Obtener openapi.yaml",
    locator: "Cajeros de Bitcoin para asistentes",
    locator_text: "Un asistente que habla el Model Context Protocol encuentra aquí máquinas cerca de un lugar, con lo que se \
                   sabe de su estado y desde cuándo.",
    mcp_address: "Dirección MCP",
    add_to_assistant: "Añadirlo a tu asistente",
    mcp_document: "Leer su descripción",
};
